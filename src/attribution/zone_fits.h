/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a unit of work costs in each zone, learned from its own meter (power_fit.h), as one more
 * rule by which its dynamic energy can be shared: SHARE_FIT. It is used only while it predicts the
 * zone's power better than the plain ratio, which is the rule that the zone has without it.
 *
 * Learned from are intervals of which the work is known: the span is this interval's, context
 * switches have shown nine tenths of the CPU time, and nothing slept. Pure. A zone's regression is
 * allocated with its first such interval; without memory there is none.
 */
#pragma once

#include "attribution/parties.h"
#include "attribution/power_fit.h"
#include "attribution/share_rule.h"
#include "energy/work.h"

struct zone_fits {
	struct power_fit *fit[ZONES_MAX]; /* NULL: not begun */
};

struct zone_fit_interval {
	uint64_t energy_uj, span_ns;
	double idle_w;        /* negative: not known */
	enum share_rule rule; /* of the zone without its regression */
	uint64_t smt_ppm;
	uint32_t signals;     /* that are known */
	uint32_t place;       /* of a socket, or of the whole machine */
	uint64_t nameless_ns; /* dropped and unseen, at that place */
};

/*
 * Whether zone @z is shared by its regression now, with @signals known, which must be those that it
 * is learned from; then its joules per unit, into @ret.
 */
bool zone_fits_use(const struct zone_fits *fits, size_t z, uint32_t signals,
		   double ret[POWER_FIT_FEATURES]);
void zone_fits_learn(struct zone_fits *fits, size_t z, const struct parties *parties,
		     const struct zone_fit_interval *interval);
/*
 * Root mean square of the errors by which the rule in use has predicted the zone's power in the
 * last minutes, over its mean power. NaN: nothing is learned.
 */
double zone_fits_error_ratio(const struct zone_fits *fits, size_t z);
void zone_fits_release(struct zone_fits *fits);
