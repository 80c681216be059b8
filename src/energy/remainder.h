/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The energy that a machine uses outside its processors, memory and GPUs: fans, disks, network
 * cards, the loss of its power supply. No meter counts that. It is the energy that the meter of a
 * whole (psys, platform) counts, less the energy that the meters of the parts count over the same
 * time. Parts and remainder are the total (energy/total.h). The same holds for estimates of a whole
 * and of its parts: their remainder is an estimate, and a row's total contains the row's charge for
 * each part. All zones that make a remainder have one quality, and so has the remainder.
 *
 * Each meter is read at its own times, and between two readings a counter is taken to be a straight
 * line. The remainder is known up to the time that all of them have reached: its spans follow each
 * other without a hole, and each reading is used in full, now or in the next span. The remainder
 * does not wait for a part that lags by more than a minute: the energy that this part counts for
 * that time is owed, and subtracted later.
 *
 * A whole may read less than its parts. For a moment, the reason is a sensor that averages and is
 * late: the remainder is 0 then, and the excess is a debt, which is subtracted from the next spans.
 * If it lasts for a whole minute, the whole does not measure all of its parts, and the debt is
 * written off: the total is the larger of both, minute by minute. remainder_coverage() shows it.
 *
 * A machine with both a psys and a platform has two levels: the energy of psys outside its parts is
 * a part of the platform. The remainder is the sum of both levels.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "energy/span.h"
#include "energy/total.h"
#include "energy/zone.h"

/* Readings of one zone that the slowest has not reached yet; of more every second is left out. */
#define REMAINDER_POINTS    32
#define REMAINDER_WINDOW_NS 60000000000ULL
/* The first minute is judged while it goes on, from here on, so that a person need not wait. */
#define REMAINDER_FIRST_NS 3000000000ULL

enum { REMAINDER_PSYS, REMAINDER_PLATFORM, REMAINDER_LEVELS };

/* A zone, as far as a remainder depends on it. */
struct remainder_member {
	const struct zone *zone;
	bool counts;             /* it is charged; no rival is */
	bool has_ended;          /* a rival has taken over for good */
	bool in_total;           /* energy/total.h */
	uint64_t counts_from_ns; /* MONOTONIC; spans that end before are not booked */
};

struct remainder_sum {
	uint64_t energy_uj;
	uint64_t idle_uj; /* of it, where zones know_idle */
};

/* A counter, as a line from point to point. */
struct remainder_curve {
	uint32_t zone;
	uint32_t level; /* of the innermost whole that has it */
	bool is_whole;  /* added; else taken off */
	uint64_t counts_from_ns;
	size_t count;
	uint64_t time_ns[REMAINDER_POINTS]; /* MONOTONIC, rising; the first: where the span began */
	struct remainder_sum sum[REMAINDER_POINTS]; /* since the curve began */
};

/* One kind of whole, compared with its parts. */
struct remainder_level {
	bool exists;
	uint64_t debt_uj;        /* that the parts have counted more than the whole */
	uint64_t owed_uj;        /* that parts have counted too late */
	uint64_t written_off_uj; /* of debts, so far: the total has it beyond the whole */
	uint64_t begun_ns;       /* of the minute that goes on; 0: none does */
	uint64_t whole_uj, parts_uj;
	double coverage; /* the whole over its parts, in the last minute */
	bool is_known;   /* that is */
	bool had_minute; /* and is of a full minute */
};

/* Zeroed: of nothing that is measured. */
struct remainder {
	enum zone_quality quality;      /* of all zones that it is made of */
	struct remainder_curve *curves; /* [count], by zone */
	size_t count;
	struct remainder_level level[REMAINDER_LEVELS];
	uint64_t from_ns;  /* MONOTONIC: the end of the last span; 0: there was none */
	bool has_begun;    /* at begun_ns; curves of wholes begin at from_ns */
	uint64_t begun_ns; /* what parts counted before is not taken off */
};

/*
 * Decides which zones make a remainder: every psys or platform that is not in the total itself, and
 * the zones inside it that are in the total. All of them count and have its quality. If a zone of
 * another quality has taken over one of the parts, there is no remainder: it would contain that
 * part, whose energy is in the other source's total. To be called when zones are found, or their
 * standing may have changed. 0 or -ENOMEM: the remainder stays as it was. After a change of the
 * wholes it starts again.
 */
int remainder_follow(struct remainder *remainder, const struct remainder_member *members,
		     size_t count, enum psys_gpus psys_gpus);
/* Pure: true if no remainder of that quality can exist again, because other sources took over. */
bool remainder_has_ended(const struct remainder_member *members, size_t count,
			 enum zone_quality quality, enum psys_gpus psys_gpus);
/* Is there a remainder, so that it is a zone? */
bool remainder_exists(const struct remainder *remainder);
/*
 * The zone of the remainder. Its energy follows the use of the parts, or the work of all CPUs if no
 * part has the energy of CPUs. An estimate counts for the source of its whole, in one total with
 * the parts.
 */
struct zone remainder_zone(const struct remainder *remainder,
			   const struct remainder_member *members);
/* Is zone @zone a part that is subtracted? */
bool remainder_has_part(const struct remainder *remainder, size_t zone);
/*
 * If @zone is a whole: the energy that the wholes of its kind counted in the last minute over the
 * energy of their parts in the same time. Below 1, they do not measure all of the parts. NaN: @zone
 * is not a whole, or nothing is known. @ret_is_of_minute, which may be NULL: a full minute has been
 * judged.
 */
double remainder_coverage(const struct remainder *remainder, size_t zone, bool *ret_is_of_minute);
/*
 * Takes the spans of an interval, which are in the order of zones. Returns true with the next span
 * of the remainder, except for its zone. The first span of all is not known, nor is one during
 * which the span of a whole was not known.
 */
bool remainder_advance(struct remainder *remainder, const struct energy_span *spans,
		       size_t span_count, struct energy_span *ret);
void remainder_release(struct remainder *remainder);
