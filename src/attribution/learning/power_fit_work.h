/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work as the features that a zone's power is regressed on. A party's features are a function of
 * its own signals only, so the features of all parties are the sum over parties, and coefficients
 * learned from the sum apply to each party. The exception is the time for which the zone was awake:
 * a party has the part of it that its run time is of all run time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "energy/signal.h"

/*
 * The features that power is regressed on. Cycles are cycles of the core's clock; if they are not
 * known, run time stands in for them and the features of frequency are missing. Reference cycles
 * are run time in another unit and have no feature of their own.
 */
enum power_fit_feature {
	POWER_FIT_ALONE,  /* 1e9 cycles (else seconds) while the core's other thread was idle */
	POWER_FIT_PAIRED, /* the same while it was busy */
	POWER_FIT_INSTRUCTIONS, /* 1e9 */
	/* Each of these × (the party's frequency in GHz)²: at a higher voltage it costs more. */
	POWER_FIT_ALONE_FAST,
	POWER_FIT_PAIRED_FAST,
	POWER_FIT_INSTRUCTIONS_FAST,
	POWER_FIT_TRAFFIC, /* 1e9 bytes to and from memory, else 1e9 misses of the last cache */
	POWER_FIT_AWAKE,   /* s in which anything ran: power that is there once, for all that run */
	POWER_FIT_FEATURES
};

/* The work of a party, or the sum over parties. */
struct power_fit_work {
	double amount[POWER_FIT_FEATURES]; /* >= 0 */
	double time_s;                     /* the run time of these amounts */
	double time2_s2; /* the sum of its squares over parties: on how few of them it falls */
};

/*
 * The features of one party's @amounts of @signals (SIGNAL_BIT()s), which are of the same time and
 * place: scaled by the caller where only a part of the run time was counted, or ran in this place.
 * All is 0 without SIGNAL_COUNTED_TIME.
 */
void power_fit_work_of(const uint64_t amounts[SIGNAL_COUNT], uint32_t signals,
		       struct power_fit_work *ret);
void power_fit_work_add(struct power_fit_work *sum, const struct power_fit_work *work);
/*
 * For how many seconds of @span_s anything ran, per second of run time, where parties ran for
 * @time_s in all: the span, or the run time where that is less.
 */
double power_fit_work_awake_ratio(double time_s, double span_s);
/* Sets the party's part of the time that the zone was awake, or that time itself in a sum. */
void power_fit_work_set_awake(struct power_fit_work *work, double awake_ratio);

/* The signals that features are made of, of @signals that are known; 0: there are no features. */
uint32_t power_fit_work_signals(uint32_t signals);
