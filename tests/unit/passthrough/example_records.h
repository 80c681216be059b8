/* SPDX-License-Identifier: Apache-2.0 */
/* The records of vectors/, by the name of their files. */
#pragma once

#include "passthrough/passthrough_record.h"

struct example {
	const char *name;
	struct passthrough_record record;
};

static const struct example examples[] = {
	{ "first",
	  { .epoch = 0x1122334455667788,
	    .sequence = 1,
	    .realtime_ns = 1795916000000000000,
	    .boottime_ns = 86400000000000,
	    .interval_ns = 1000000000,
	    .cpu_time_us = 750000,
	    .vm_hash = 0x2e7144ae83c0a30f,
	    .period_ms = 1000,
	    .zone_count = 1,
	    .zones = { { ZONE_PACKAGE, QUALITY_MEASURED, 15000, 12345678, 0 } } } },
	{ "empty", { .epoch = 1, .sequence = 1, .period_ms = 5000 } },
	{ "full",
	  { .epoch = UINT64_MAX,
	    .sequence = 3600,
	    .realtime_ns = 1795919600123456789,
	    .boottime_ns = 90000123456789,
	    .interval_ns = 5000000123,
	    .cpu_time_us = 3600123456,
	    .vm_hash = 0x2e7144ae83c0a30f,
	    .flags = PASSTHROUGH_IDLE | PASSTHROUGH_FILTERED | PASSTHROUGH_RESERVED |
		     PASSTHROUGH_RESOLUTION,
	    .period_ms = 5000,
	    .zone_count = 10,
	    .zones = { { ZONE_PACKAGE, QUALITY_MEASURED, 15000, 45123456000, 9001002000 },
		       { ZONE_CORE, QUALITY_MEASURED, 15000, 40123456000, 4001002000 },
		       { ZONE_UNCORE, QUALITY_MEASURED, 15000, 1123456000, 1001002000 },
		       { ZONE_DRAM, QUALITY_MEASURED, 50000, 5123456000, 3001002000 },
		       { ZONE_PSYS, QUALITY_MEASURED, 20000, 55123456000, 19001002000 },
		       { ZONE_PLATFORM, QUALITY_MEASURED, 30000, 65123456000, 29001002000 },
		       { ZONE_GPU, QUALITY_MEASURED, 50000, 18446744073709551000ULL, 0 },
		       { ZONE_OTHER, QUALITY_MEASURED, 60000, 123456000, 1002000 },
		       { ZONE_PLATFORM, QUALITY_ESTIMATED, 250000, 66123456000, 30001002000 },
		       { ZONE_DRAM, QUALITY_ESTIMATED, PASSTHROUGH_UNCERTAINTY_UNKNOWN, 0,
			 0 } } } },
};

static inline bool records_are_equal(const struct passthrough_record *a,
				     const struct passthrough_record *b)
{
	bool equal = a->epoch == b->epoch && a->sequence == b->sequence &&
		     a->realtime_ns == b->realtime_ns && a->boottime_ns == b->boottime_ns &&
		     a->interval_ns == b->interval_ns && a->vm_hash == b->vm_hash &&
		     a->cpu_time_us == b->cpu_time_us && a->flags == b->flags &&
		     a->period_ms == b->period_ms && a->zone_count == b->zone_count;

	for (size_t i = 0; equal && i < a->zone_count; i++) {
		const struct passthrough_zone *x = &a->zones[i], *y = &b->zones[i];

		equal = x->kind == y->kind && x->quality == y->quality &&
			x->uncertainty_ppm == y->uncertainty_ppm &&
			x->dynamic_uj == y->dynamic_uj && x->idle_uj == y->idle_uj;
	}
	return equal;
}
