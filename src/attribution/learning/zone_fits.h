/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a unit of work costs in each zone, learned from its own meter, as one more rule by which its
 * dynamic energy can be shared: SHARE_FIT. Two things are learned, each of which is used only while
 * it predicts the zone's power better than what would be used without it:
 *
 * - coefficients of counters (power_fit.h), against the plain ratio, which is the rule that the
 *   zone has otherwise;
 * - coefficients together with factors of containers (power_owners.h), for what no counter shows of
 *   their work, against that. Unless containers are trusted, no share is raised beyond what
 *   share_bound.h allows over the share without factors: by the coefficients that would be used
 *   otherwise, or by those that were learned with factors, whichever is more.
 *
 * Learned from are intervals of which the work is known: the span is this interval's, context
 * switches have shown nine tenths of the CPU time, and nothing slept. A container is known by a
 * hash of its id, so that it is the same one after a restart. Pure. What a zone learns is allocated
 * with its first such interval; without memory there is none.
 */
#pragma once

#include "attribution/learning/power_fit.h"
#include "attribution/learning/power_owners.h"
#include "attribution/ledger.h"
#include "attribution/parties.h"
#include "attribution/share_rule.h"
#include "attribution/share_weights.h"
#include "energy/work.h"

struct zone_fit {
	struct power_fit fit;
	double half_width; /* of the regression; negative: it is not known */
	struct power_owners owners;
	/* Of the largest share in use to the learned one, and to that without factors, if more. */
	double distance;
};

/* The id of a container's row as a number. */
struct zone_fit_key {
	uint64_t serial; /* of the row; 0: none */
	uint64_t key;
};

struct zone_fits {
	struct zone_fit *fit[ZONES_MAX]; /* NULL: not begun */
	/* Of an interval: the containers that ran, one after the other. */
	uint64_t *key;               /* [owner_size] */
	struct power_fit_work *work; /* likewise */
	uint32_t *place; /* [owner_size] by row: its number there, from 1; 0: none yet */
	double *learned, *without, *limit; /* [owner_size] shares of these */
	size_t owner_size;
	struct zone_fit_key *known; /* [known_size], by row */
	size_t known_size;
	struct share_factor *factor; /* [factor_size], by party */
	size_t factor_size;
};

struct zone_fit_interval {
	uint64_t energy_uj, span_ns;
	double idle_w;        /* negative: not known */
	enum share_rule rule; /* of the zone without what is learned */
	uint64_t smt_ppm;
	enum owner_factors owner_factors;
	uint32_t signals;            /* that are known */
	uint32_t place;              /* of a socket, or of the whole machine */
	bool is_memory;              /* the zone's energy is that of memory */
	uint64_t nameless_ns;        /* dropped and unseen, at that place */
	const struct ledger *ledger; /* of the parties' rows */
};

/* What is learned of a zone: joules per unit, and by what each party's are multiplied. */
struct zone_fit_weights {
	double coefficient[POWER_FIT_FEATURES];
	double awake_ratio;                /* power_fit_work.h */
	const struct share_factor *factor; /* by party, until the next call; NULL: 1s */
};

/*
 * Whether zone @z is shared by what is learned of it now, with the interval's signals known, which
 * must be those that it is learned from; then that, for @parties, into @ret. Of the interval,
 * span_ns, owner_factors, signals, place, is_memory and ledger are needed.
 */
bool zone_fits_use(struct zone_fits *fits, size_t z, const struct parties *parties,
		   const struct zone_fit_interval *interval, struct zone_fit_weights *ret);
/* The id of a container as a number, not 0, that is the same after a restart. */
uint64_t zone_fits_key(const struct owner_names *names);
void zone_fits_learn(struct zone_fits *fits, size_t z, const struct parties *parties,
		     const struct zone_fit_interval *interval);
/*
 * Root mean square of the errors by which what is in use has predicted the zone's power in the
 * last minutes, over its mean power. NaN: nothing is learned.
 */
double zone_fits_error_ratio(const struct zone_fits *fits, size_t z);
/*
 * Half the width of the 90 % interval of the share of the container with most of the zone's power
 * in the last interval. Where shares are bounded it reaches at least to the learned share and to
 * that without factors. NaN: it is not known.
 */
double zone_fits_share_half_width(const struct zone_fits *fits, size_t z);
/* What is to be saved of a zone, borrowed; NULL: there is nothing. */
const struct power_owners *zone_fits_learned(const struct zone_fits *fits, size_t z);
/* What was saved, unless something was learned already; factors are 1 where none are allowed. */
void zone_fits_restore(struct zone_fits *fits, size_t z, const struct power_owners *owners,
		       enum owner_factors factors);
/* The energy of a cycle beside a busy thread over that of one alone, where the meter shows it. */
double zone_fits_smt_factor(const struct zone_fits *fits, size_t z);
void zone_fits_release(struct zone_fits *fits);
