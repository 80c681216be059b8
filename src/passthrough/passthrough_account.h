/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest's account of its own energy: what the records that arrived add up to. Pure.
 *
 * Within an epoch it is the difference of cumulative values, so a lost record is covered by the
 * next one. A new epoch counts from its begin if its first record is seen; else that record is only
 * where counting begins, and the energy since the record before is not known. Several epochs are
 * remembered, so that a late record of an earlier one is not taken for a new one. No wall clock is
 * used: a host's interval is measured by its CLOCK_BOOTTIME.
 *
 * A guest that is restored from a snapshot has the account of then: the next record of the same
 * epoch adds exactly what the host counted since.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "passthrough/passthrough_record.h"

#define PASSTHROUGH_EPOCHS_MAX 8 /* remembered */
/* Each kind of both qualities, with and without idle energy. */
#define PASSTHROUGH_SUMS_MAX (ZONE_KIND_COUNT * QUALITY_COUNT * 2)
/* Energy may be reported a little later than it flowed. */
#define PASSTHROUGH_SLACK_NS 100000000ULL

/* The fate of a record. */
enum passthrough_outcome {
	PASSTHROUGH_COUNTED,
	PASSTHROUGH_BEGUN,    /* an epoch that began before: counted from this record on */
	PASSTHROUGH_REPEATED, /* its sequence, or a later one, was there already */
	PASSTHROUGH_WRONG_VM, /* it is of another virtual machine */
	/* Refused, and counted from this record on: */
	PASSTHROUGH_FELL,        /* a value or the clock is less than before */
	PASSTHROUGH_IMPLAUSIBLE, /* more power than zones of the kind can draw */
	PASSTHROUGH_OUTCOME_COUNT,
};

struct passthrough_sum {
	enum zone_kind kind;
	enum zone_quality quality;
	bool has_idle;
	uint32_t uncertainty_ppm; /* of the last record */
	/*
	 * Records that had it and counted, and the first one in any case. Not those that only begin
	 * an epoch: what is known of the time before such a record, and what follows, is one sum.
	 */
	uint64_t updates;
	uint64_t energy_uj; /* dynamic and idle; never falls */
	uint64_t idle_uj;
};

/* The last values of a zone in an epoch. */
struct passthrough_last {
	struct passthrough_zone zone;
	uint64_t moved_ns; /* the host's boottime when its energy last changed, or it appeared */
};

struct passthrough_epoch {
	uint64_t id; /* 0: unused */
	uint64_t sequence, boottime_ns, cpu_time_us;
	uint64_t used; /* the highest was used last */
	size_t count;
	struct passthrough_last last[ZONE_KIND_COUNT * QUALITY_COUNT];
};

/* All zero but vm_hash: no record yet. */
struct passthrough_account {
	uint64_t vm_hash; /* of this machine; 0: not known, so records of any are taken */
	struct passthrough_sum sums[PASSTHROUGH_SUMS_MAX]; /* a sum keeps its index */
	size_t sum_count;
	uint64_t cpu_time_us; /* that the host counted */
	uint32_t flags;       /* of the last record that was taken */
	uint64_t outcomes[PASSTHROUGH_OUTCOME_COUNT];
	uint64_t lost;        /* records that are missing within epochs */
	uint64_t epoch_count; /* that were new */
	uint64_t uses;
	struct passthrough_epoch epochs[PASSTHROUGH_EPOCHS_MAX];
};

/* Takes a record without fault, as a reader gives it. */
enum passthrough_outcome passthrough_account_take(struct passthrough_account *account,
						  const struct passthrough_record *record);
