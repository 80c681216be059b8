/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a unit of work costs in each zone, learned from its own meter, as one more rule by which its
 * dynamic energy can be shared: SHARE_FIT. Two things are learned, each of which is used only while
 * it predicts the zone's power better than the same without it:
 *
 * - coefficients of counters (power_fit.h), against the plain ratio, which is the rule that the
 *   zone has otherwise;
 * - factors of containers (power_owners.h), for what no counter shows of their work, on top of the
 *   plain ratio and of the regression: those on top of the model in use are used. As coefficients
 *   change, what they said before is restated.
 *
 * Learned from are intervals of which the work is known: the span is this interval's, context
 * switches have shown nine tenths of the CPU time, and nothing slept. A container is known by its
 * row's serial, which is not used again. Pure. What a zone learns is allocated with its first such
 * interval; without memory there is none.
 */
#pragma once

#include "attribution/ledger.h"
#include "attribution/parties.h"
#include "attribution/power_fit.h"
#include "attribution/power_owners.h"
#include "attribution/share_rule.h"
#include "energy/work.h"

/* On top of which coefficients factors are learned. */
enum zone_fit_base { ZONE_FIT_RATIO, ZONE_FIT_REGRESSION, ZONE_FIT_BASES };

/* What an owner with a factor did, forgotten as its watts are. */
struct zone_fit_owner {
	uint64_t key; /* 0: none */
	double amount[POWER_FIT_FEATURES];
};

struct zone_fit {
	struct power_fit fit;
	struct power_owners owners[ZONE_FIT_BASES];
	struct zone_fit_owner did[ZONE_FIT_BASES][POWER_OWNERS]; /* by place of the owner */
};

struct zone_fits {
	struct zone_fit *fit[ZONES_MAX]; /* NULL: not begun */
	/* Of an interval: containers by row, then those that ran, one after the other. */
	uint64_t *key;                  /* [owner_size] */
	struct power_fit_work *work;    /* likewise */
	double *work_w[ZONE_FIT_BASES]; /* likewise */
	size_t owner_size;
	double *factor; /* [factor_size], by party */
	size_t factor_size;
};

struct zone_fit_interval {
	uint64_t energy_uj, span_ns;
	double idle_w;        /* negative: not known */
	enum share_rule rule; /* of the zone without what is learned */
	uint64_t smt_ppm;
	uint32_t signals;            /* that are known */
	uint32_t place;              /* of a socket, or of the whole machine */
	uint64_t nameless_ns;        /* dropped and unseen, at that place */
	const struct ledger *ledger; /* of the parties' rows */
};

/* What is learned of a zone: joules per unit, and by what each party's are multiplied. */
struct zone_fit_weights {
	double coefficient[POWER_FIT_FEATURES];
	const double *factor; /* by party, until the next call; NULL: 1 for all of them */
};

/*
 * Whether zone @z is shared by what is learned of it now, with @signals known, which must be those
 * that it is learned from; then that, for @parties, into @ret.
 */
bool zone_fits_use(struct zone_fits *fits, size_t z, uint32_t signals,
		   const struct parties *parties, const struct ledger *ledger,
		   struct zone_fit_weights *ret);
void zone_fits_learn(struct zone_fits *fits, size_t z, const struct parties *parties,
		     const struct zone_fit_interval *interval);
/*
 * Root mean square of the errors by which what is in use has predicted the zone's power in the
 * last minutes, over its mean power. NaN: nothing is learned.
 */
double zone_fits_error_ratio(const struct zone_fits *fits, size_t z);
void zone_fits_release(struct zone_fits *fits);
