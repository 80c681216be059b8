/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of a unit of work in each zone, learned from the zone's own meter, as one more rule by
 * which its dynamic energy can be shared: SHARE_FIT. Two things are learned, and each is used only
 * while it predicts the zone's power better than the model without it:
 *
 * - coefficients of counters (power_fit.h), compared with the plain ratio, which is the rule that
 * the zone has otherwise;
 * - coefficients together with factors of containers (power_owners.h), for costs that no counter
 * shows, compared with the former. Unless containers are trusted, no share is raised beyond the
 * bound of share_bound.h over the share without factors: by the coefficients that would be used
 * otherwise, or by those that were learned with factors, whichever is more.
 *
 * An interval is learned from if its work is known: the span is this interval's, context switches
 * have shown nine tenths of the CPU time, and the machine was not suspended. A container is known
 * by a hash of its id, so that it is the same one after a restart. Pure. The memory for a zone is
 * allocated with its first such interval; without memory nothing is learned.
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
	/* Distance of the largest share in use to the learned one or, if more, the plain one. */
	double distance;
};

/* The id of a container's row as a number. */
struct zone_fit_key {
	uint64_t serial; /* of the row; 0: none */
	uint64_t key;
};

struct zone_fits {
	struct zone_fit *fit[ZONES_MAX]; /* NULL: not begun */
	/* The containers that ran in an interval, one after the other. */
	uint64_t *key;               /* [owner_size] */
	struct power_fit_work *work; /* [owner_size] */
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
	bool is_memory;              /* the zone's energy is used by memory */
	uint64_t nameless_ns;        /* dropped and unseen, at that place */
	const struct ledger *ledger; /* of the parties' rows */
};

/* The learned costs of a zone: joules per unit, and the factors of each party's amounts. */
struct zone_fit_weights {
	double coefficient[POWER_FIT_FEATURES];
	double awake_ratio;                /* power_fit_work.h */
	const struct share_factor *factor; /* by party, until the next call; NULL: 1s */
};

/*
 * Returns true if zone @z is shared by its learned costs now, and fills them in for @parties. The
 * signals of the interval must be the ones that the costs were learned from. Of @interval, span_ns,
 * owner_factors, signals, place, is_memory and ledger are needed.
 */
bool zone_fits_use(struct zone_fits *fits, size_t z, const struct parties *parties,
		   const struct zone_fit_interval *interval, struct zone_fit_weights *ret);
/* The id of a container as a number, not 0, that is the same after a restart. */
uint64_t zone_fits_key(const struct owner_names *names);
void zone_fits_learn(struct zone_fits *fits, size_t z, const struct parties *parties,
		     const struct zone_fit_interval *interval);
/*
 * Root mean square of the errors with which the model in use has predicted the zone's power in the
 * last minutes, over its mean power. NaN: nothing is learned.
 */
double zone_fits_error_ratio(const struct zone_fits *fits, size_t z);
/*
 * Half the width of the 90 % interval of the share of the container with most of the zone's power
 * in the last interval. If shares are bounded, it reaches at least to the learned share and to the
 * share without factors. NaN: it is not known.
 */
double zone_fits_share_half_width(const struct zone_fits *fits, size_t z);
/* The learned factors of a zone that are to be saved, borrowed; NULL: there are none. */
const struct power_owners *zone_fits_learned(const struct zone_fits *fits, size_t z);
/* Restores saved factors, unless some were learned already; factors are 1 if none are allowed. */
void zone_fits_restore(struct zone_fits *fits, size_t z, const struct power_owners *owners,
		       enum owner_factors factors);
/* The energy of a cycle with a busy sibling over the energy of one alone, if the meter shows it. */
double zone_fits_smt_factor(const struct zone_fits *fits, size_t z);
void zone_fits_release(struct zone_fits *fits);
