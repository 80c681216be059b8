/* SPDX-License-Identifier: Apache-2.0 */
/* A recording in memory that the tests of this room share: two zones, two owners, two intervals. */
#pragma once

#include "record/record_block.h"
#include "record/record_encode.h"

static inline void sample_definitions(struct strbuf *out)
{
	const struct recorded_zone package = { .index = 0,
					       .zone = { .kind = ZONE_PACKAGE,
							 .domain = { DOMAIN_SOCKET, 1 },
							 .instance = "1",
							 .path = "intel-rapl:1",
							 .source = "rapl-sysfs",
							 .rank = 3,
							 .knows_idle = true },
					       .found_ms = 1790000000000 };
	const struct recorded_zone gpu = { .index = 1,
					   .zone = { .kind = ZONE_GPU,
						     .domain = { DOMAIN_DEVICE, 7 },
						     .instance = "GPU-1",
						     .quality = QUALITY_ESTIMATED,
						     .source = "nvml" },
					   .found_ms = -5 };
	const struct label app = { "label_app", "shop" };
	const struct recorded_owner web = {
		.id = 0,
		.has_pod_names = true,
		.size_millicpu = 1500,
		.names = { .text = { [LABEL_CONTAINER_ID] = "c0ffee", [LABEL_NAMESPACE] = "shop" },
			   .extra = &app,
			   .extra_count = 1 }
	};
	const struct recorded_owner other = { .id = 300,
					      .is_other = true,
					      .names = { .text = { [LABEL_NAMESPACE] = "x" } } };
	const struct recorded_process nginx = { 9, 4711, 123456789, 0, "nginx" };
	const struct recorded_state state = { .zone = 0,
					      .progress = { .has_span = true,
							    .held = true,
							    .count_from_ns = 5,
							    .split_from_ns = 6,
							    .standing = STANDING_HELD,
							    .is_due = true } };

	record_encode_pair(out, RECORD_FACT, "program", "kepler 1");
	record_encode_pair(out, RECORD_OPTION, "idle.share", "usage");
	record_encode_zone(out, &package);
	record_encode_zone(out, &gpu);
	record_encode_idle(out, 0, "idle=2 …");
	record_encode_owner(out, &web);
	record_encode_owner(out, &other);
	record_encode_process(out, &nginx);
	record_encode_state(out, &state);
}

static inline void sample_interval(struct strbuf *out)
{
	static const struct recorded_reading readings[] = {
		{ .has_span = true,
		  .span = { 0, true, 1000000000, 2000000000, 500000000, 12500000, 2500000 } },
		{ .state = ZONE_ERROR,
		  .error = -5,
		  .has_span = true,
		  .span = { .zone = 1, .to_ns = 2100000000 } },
	};
	static const uint32_t parties[] = { 18, 601 };
	static const uint64_t cpu_ns[] = { 500000000, 300 };
	static const uint64_t first_ns[] = { 400000000, 0 }, second_ns[] = { 100000000, 300 };
	static const uint64_t cycles[] = { UINT64_MAX / 2, 7 };
	static const struct recorded_use use = { 7, 18, 1000, DEVICE_WHOLE };
	static const struct recorded_nameless nameless = { 7, 1, 2, 3 };
	static const struct recorded_allocation allocation = { 7, 300, 840000 };
	static const uint32_t ended[] = { 9 };
	const struct recorded_interval interval = {
		.time_ns = 2000000000,
		.boottime_ns = 3000000000,
		.realtime_ms = 1790000000000,
		.length_ns = 1000000000,
		.asleep_ns = 7,
		.utilisation = 0.1,
		.settle_ns = 60,
		.work = { 500000300, 2, 3 },
		.has_steal = true,
		.steal_ns = 9000,
		.stolen_ns = 4000,
		.places = { 2, { 0, 1 }, { 4, 5 } },
		.readings = readings,
		.reading_count = 2,
		.parties = parties,
		.party_count = 2,
		.cpu_ns = cpu_ns,
		.sockets = 2,
		.socket_ns = { first_ns, second_ns },
		.signals = SIGNAL_BIT(SIGNAL_CPU_CYCLES),
		.signal = { [SIGNAL_CPU_CYCLES] = cycles },
		.uses = &use,
		.use_count = 1,
		.nameless = &nameless,
		.nameless_count = 1,
		.allocations = &allocation,
		.allocation_count = 1,
		.ended = ended,
		.ended_count = 1,
	};

	record_encode_interval(out, &interval);
}

/* As a file of two blocks. */
static inline void sample_file(struct strbuf *out)
{
	struct strbuf records = STRBUF_INIT;
	const struct recorded_end last = { 1, 4 };

	record_block_add_header(out);
	sample_definitions(&records);
	(void)record_block_add(out, &records);
	strbuf_reset(&records);
	sample_interval(&records);
	record_encode_end(&records, &last);
	(void)record_block_add(out, &records);
	strbuf_release(&records);
}
