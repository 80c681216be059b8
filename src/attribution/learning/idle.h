/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of a zone's power that would remain if nothing ran: learned from readings, given, or not
 * known. Pure: times are parameters.
 *
 * power(utilisation) is regressed recursively (weighted least squares with exponential forgetting,
 * Huber-weighted against outliers). Its intercept at utilisation 0 is the idle power: never
 * negative, never above the lowest sustained power, nor below the point that the line reaches from
 * that power at utilisation 0. It is learned once there is evidence: IDLE_MIN_TIME_NS of readings,
 * spread over IDLE_MIN_SPAN of utilisation, with a slope significantly above 0, and load so close
 * to 0, at times, that the rest of the line matters little. IDLE_REST_TIME_NS of readings are
 * evidence as well if power clearly did not follow utilisation over that span, or if the zone was
 * at rest: then idle power is the lowest sustained power. Once learned, an estimate stays while
 * newer readings lack evidence. Until then there is a provisional bound. docs/design/idle-power.md
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IDLE_MIN_TIME_NS  (60ULL * 1000000000ULL)
#define IDLE_MIN_SPAN     0.20 /* of utilisation, 0..1 */
#define IDLE_REST_TIME_NS (600ULL * 1000000000ULL)
#define IDLE_SHARE_LEVELS 11 /* at utilisation 0, 0.1, … 1 */

enum idle_mode { IDLE_MODE_LEARNED, IDLE_MODE_FIXED, IDLE_MODE_OFF };

enum idle_state {
	IDLE_PROVISIONAL, /* not enough evidence: a bound stands in */
	IDLE_LEARNED,
	IDLE_FIXED,
	IDLE_OFF,
	IDLE_MODEL,  /* the source's own model provides it */
	IDLE_ABSENT, /* the zone has no idle part (a VM's dynamic-only estimate) */
};

/* "provisional", "learned", "fixed", "off", "model", "absent" */
const char *idle_state_name(enum idle_state state);
/* Is idle energy a power times time? The power is 0 while it is not known. */
bool idle_state_has_power(enum idle_state state);

/* All of it is plain numbers: a learner can be copied. */
struct idle_learner {
	/*
	 * Exponentially forgotten sums over readings, each weighted by its seconds; x utilisation,
	 * y watts.
	 */
	double w, wx, wy, wxx, wxy, wyy;
	double readings;     /* how many, forgotten in the same way */
	double x_min, x_max; /* span seen; drawn towards what is seen now */
	/* Lowest sustained power of this half day and of the one before; negative: none yet. */
	double floor_w, floor_before_w;
	double floor_x, floor_before_x; /* mean utilisation while that power was sustained */
	/*
	 * Lowest sustained utilisation, and the mean power of that time; valid if there is a floor.
	 */
	double quiet_x, quiet_before_x;
	double quiet_w, quiet_before_w;
	uint64_t floor_age_ns;    /* of this half day */
	double floor_candidate_w; /* means of the window being watched */
	double floor_candidate_x;
	uint64_t floor_window_ns;
	double noise_w;   /* robust scale of residuals; negative: none yet */
	uint64_t time_ns; /* readings seen so far */
	double idle_w;    /* the estimate; valid once learned */
	bool learned;
};

void idle_learner_init(struct idle_learner *learner);
/*
 * One interval: mean power over @dt_ns at @utilisation (0..1). Ignores non-finite or impossible
 * input.
 */
void idle_learner_add(struct idle_learner *learner, double power_w, double utilisation,
		      uint64_t dt_ns);
/*
 * A reading of 0 W from a zone that must have drawn power: its meter stood still, or counts in
 * large steps. It is on the line as any other reading, but no power is sustained while there are
 * such readings.
 */
void idle_learner_add_standstill(struct idle_learner *learner, double utilisation, uint64_t dt_ns);
/* The estimate in µW; false until it is learned. */
bool idle_learner_get(const struct idle_learner *learner, uint64_t *ret_power_uw);
/*
 * The bound that is used until there is an estimate, in µW: the idle share of the power at the
 * quietest time, by @idle_share at the utilisation of that time (1 at utilisation 0, never rising),
 * but never more than the lowest sustained power. Before the first sustained time, the mean so far
 * replaces that. False without a reading.
 */
bool idle_learner_bound(const struct idle_learner *learner,
			const double idle_share[static IDLE_SHARE_LEVELS], uint64_t *ret_power_uw);

/*
 * As a line of text for the state file ("idle=3 KEY=VALUE …", no newline, shorter than
 * IDLE_LINE_MAX), and back. Format gives the length or -ENOSPC. Parse gives 0 or -EINVAL: another
 * version, a missing or unknown key, or numbers that no learner can hold. It also reads version 2,
 * which had no quiet times: the floor stands for them.
 */
#define IDLE_LINE_MAX 900
int idle_learner_format(const struct idle_learner *learner, char *buf, size_t size);
int idle_learner_parse(const char *line, struct idle_learner *ret);
