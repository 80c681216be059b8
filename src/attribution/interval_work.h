/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work of an interval, by place (energy/work.h): the work of all CPUs or of a socket's, the use
 * of a device, or the use of the machine's other parts. The domain of a place makes its work; the
 * differences between domains are a row of a table, so that the accountant treats all of them
 * alike.
 *
 * The work of CPUs can be weighed by signals (share_weights.h). The weights that were made last are
 * kept, because zones of the same place and rule mostly follow each other. Pure.
 */
#pragma once

#include "attribution/device_parties.h"
#include "attribution/energy_parties.h"
#include "attribution/learning/zone_fits.h"
#include "attribution/parties.h"
#include "attribution/share_rule.h"
#include "attribution/share_weights.h"
#include "attribution/zone_account.h"
#include "energy/span.h"
#include "energy/work.h"

/* All inputs that an interval is booked with. Borrowed for the call. */
struct interval {
	uint64_t time_ns;                 /* when it ended, CLOCK_MONOTONIC */
	const struct zone_status *status; /* [zone_count] */
	const struct energy_span *spans;  /* in the order of zones, at most one of each */
	size_t span_count;
	struct work_sums work;
	struct work_places places;
	struct zone_activity measured;
	struct parties *parties;        /* what ran; the idle weights are set here */
	struct device_parties *devices; /* what used devices; closed here */
};

struct work_domain {
	enum share_rule rule; /* SHARE_AUTO: signals can weigh the work, by the zone's kind */
	bool comes_with_span; /* read together with the energy, and so never late */
	bool follows_zones;   /* known only after the zones of other domains were booked */
};

struct interval_work {
	const struct interval *interval;     /* borrowed until the next one */
	const struct share_options *options; /* borrowed, too */
	enum idle_share idle_share;          /* of all zones but devices' */
	struct energy_parties parts;         /* what used the energy of the machine's parts */
	uint32_t signals;                    /* SIGNAL_BIT()s that can weigh the work */
	struct share_weights weights;        /* made last, for ... */
	uint32_t weighed_place;              /* ... this place ... */
	enum share_rule weighed_rule;        /* ... and rule; SHARE_CPU_TIME: there are none */
};

const struct work_domain *work_domain_at(uint32_t place);

/*
 * Begins an interval. Its idle energy is shared by @share, the idle energy of devices by
 * @device_share. There are weights for the rows of @ledger. Without memory no row is charged and no
 * energy is lost.
 */
void interval_work_begin(struct interval_work *work, const struct interval *interval,
			 const struct share_options *options, const struct ledger *ledger,
			 enum idle_share share, enum idle_share device_share);
void interval_work_release(struct interval_work *work);
/* The rule for zones of @kind at @place. */
enum share_rule interval_work_rule(const struct interval_work *work, uint32_t place,
				   enum zone_kind kind);
/* The work at @place, weighed by @rule where that is possible, else by the domain's own unit. */
struct domain_work interval_work_at(struct interval_work *work, uint32_t place,
				    enum share_rule rule);
/* The same by the costs learned for a zone; input.rule is SHARE_FIT if that was possible. */
struct domain_work interval_work_by_fit(struct interval_work *work, uint32_t place,
					const struct zone_fit_weights *learned);
enum idle_share interval_work_idle_share(const struct interval_work *work, uint32_t place);
/* Was the domain used, so that a zone without a reading waits for it? */
bool interval_work_has_use(const struct interval_work *work, uint32_t place);
/*
 * The activity of the machine during the interval that concerns a zone at @place. @span_ns: work
 * that comes with the span took that long; 0: as long as the interval.
 */
struct zone_activity interval_work_activity(const struct interval_work *work, uint32_t place,
					    uint64_t span_ns);
