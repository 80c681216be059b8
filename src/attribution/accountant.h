/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Books an interval: each zone's energy, dynamic and idle apart, over what ran, into the ledger.
 *
 * Pure: what was read and what ran come as a value (struct interval), and all that is kept from one
 * interval to the next is here: each zone's status and what is known of its idle part, the
 * gaps of zones that could not be read, what ran before for those that tell late, and when shared
 * idle energy begins to count. Dynamic energy is shared by the rule of the zone's kind
 * (share_rule.h). Whatever fails, what cannot be charged is unattributed, and the
 * parts sum to what the meters said.
 *
 * Zones keep their index. Of those that rival each other the best that counts is charged
 * (energy/rank.h); what a better one tells counts from the span on that begins where the worse one
 * has ended, or later.
 */
#pragma once

#include "attribution/device_parties.h"
#include "attribution/energy_parties.h"
#include "attribution/explanation.h"
#include "attribution/gaps.h"
#include "attribution/ledger.h"
#include "attribution/parties.h"
#include "attribution/share_rule.h"
#include "attribution/share_weights.h"
#include "attribution/split.h"
#include "attribution/work_history.h"
#include "attribution/zone_account.h"
#include "attribution/zone_fits.h"
#include "energy/rank.h"
#include "energy/remainder.h"
#include "energy/work.h"

/* All that the arithmetic of one interval depends on. Borrowed for the call. */
struct interval {
	uint64_t time_ns;                 /* MONOTONIC; when it ended */
	const struct zone_status *status; /* [zone_count] */
	const struct energy_span *spans;  /* in the order of zones, at most one of each */
	size_t span_count;
	struct work_sums work;
	struct work_places places;
	struct zone_activity measured;
	struct parties *parties; /* what ran; their idle weights are set here */
	/* What used devices; closed here. NULL: no zone is a device's. */
	struct device_parties *devices;
};

/* Weights of the interval are kept for the zones that follow with the same place and rule. */
struct share_of_weights {
	uint32_t place;
	enum share_rule rule; /* SHARE_CPU_TIME: there are none */
};

struct accountant {
	struct ledger *ledger; /* borrowed, and written to */
	struct zone_account zones[ZONES_MAX];
	size_t zone_count;
	uint32_t totals;                        /* energy/total.h: how many */
	struct contender contenders[ZONES_MAX]; /* [zone_count] */
	uint64_t booked_ns;                     /* the end of the last interval that was booked */
	bool has_begun;                         /* zones that appear from now on are late */
	enum idle_share idle_share;
	enum device_idle device_idle;
	bool share_is_new;       /* a reload has given rows idle series: they show 0 ... */
	uint64_t shared_from_ns; /* ... and idle energy is shared from here on */
	uint64_t settle_ns;      /* how long a series that is born shows 0 */
	struct gaps gaps;
	uint32_t gap_of[ZONES_MAX]; /* that the zone waits in, or GAP_NONE, GAP_LOST */
	struct parties gap_parties; /* of the zone whose gap ends just now, or which is late */
	struct work_histories histories;
	bool has_parts;              /* there is a zone of what they leave */
	bool is_part[ZONES_MAX];     /* see accountant_follow() */
	struct energy_parties parts; /* of an interval: what has used the energy of such zones */
	struct share_options share;  /* see accountant_share_by() */
	struct zone_fits fits;
	uint32_t signals;             /* SIGNAL_BIT()s that can weigh the interval that is booked */
	struct share_weights weights; /* the last that were made, ... */
	struct share_of_weights weights_of; /* ... and of what they are */
	struct split_scratch scratch;
	/*
	 * What is to be noted of the interval that is booked next, with its level and row set;
	 * borrowed. Usually none.
	 */
	struct explanation *const *explained;
	size_t explained_count;
};

void accountant_release(struct accountant *accountant);
/* At the start and after a reload, of which the zones that there are already learn, too. */
void accountant_configure(struct accountant *accountant, const struct idle_options *options,
			  uint64_t settle_ns);
/* At the start and after a reload: by which rules dynamic energy is shared. */
void accountant_share_by(struct accountant *accountant, const struct share_options *options);
/*
 * From the next interval on a series shows 0 for @settle_ns. One that still shows 0 does so for
 * that long since its birth, too; one that has turned stays.
 */
void accountant_set_settle(struct accountant *accountant, uint64_t settle_ns);
/* Whether rows have a part of the idle energy of zones in @domain, so that they need columns. */
bool accountant_shares_idle(const struct accountant *accountant, const struct domain *domain);
/* There must be room: zone_count < ZONES_MAX. @zone lives as long as the accountant. */
void accountant_adopt(struct accountant *accountant, const struct zone *zone,
		      const struct idle_options *options, int64_t boottime_ms);
/*
 * After adopting all zones that were found at once, of which there were @known before. These stay
 * in the total, or out of it, from the first energy on that is booked of any zone.
 */
void accountant_choose_total(struct accountant *accountant, size_t known);
/*
 * Before an interval, after adopting: which zones count in it. A zone that has ended does so in the
 * ledger, too.
 */
void accountant_settle_ranks(struct accountant *accountant);
/*
 * Between two intervals, or once the total has been chosen: which zones make @remainder. What has
 * used the energy of its parts in an interval shares that of the zone with DOMAIN_PARTS, where
 * there is one. 0 or -ENOMEM: it goes on as before. @ret, which may be NULL: the remainder's zone;
 * NULL where there is none.
 */
int accountant_follow(struct accountant *accountant, struct remainder *remainder,
		      const struct zone **ret);
/* Whether a better source of its energy is charged, for good. */
bool accountant_has_ended(const struct accountant *accountant, size_t zone);
/* Between ledger_begin() and ledger_close(). */
void accountant_book(struct accountant *accountant, const struct interval *interval);
