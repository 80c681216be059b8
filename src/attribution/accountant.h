/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Books an interval: charges the energy of each zone, dynamic and idle separately, to the rows of
 * the ledger that used it.
 *
 * Pure: readings and work come in as a value (struct interval). The state that is kept between
 * intervals is here: each zone's account and its idle power, gaps of zones that could not be read,
 * the work of earlier intervals for zones that report late, and when shared idle energy begins to
 * count. Dynamic energy is shared by the rule of the zone's kind (share_rule.h). Energy that cannot
 * be charged, for whatever reason, is unattributed, so that the parts sum to the meters' energy.
 *
 * Zones keep their index. Among sources that measure the same energy, only the best valid one is
 * charged (energy/rank.h). A better source takes over at the first span that starts where the worse
 * one's last span ended, or later.
 */
#pragma once

#include "attribution/explanation.h"
#include "attribution/gaps.h"
#include "attribution/interval_work.h"
#include "attribution/learning/zone_fits.h"
#include "attribution/ledger.h"
#include "attribution/split.h"
#include "attribution/work_history.h"
#include "attribution/zone_account.h"
#include "energy/rank.h"

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
	bool has_parts;             /* some zone follows the energy of the machine's parts */
	bool is_part[ZONES_MAX];    /* it is a part of the machine (books.h) */
	struct share_options share; /* see accountant_share_by() */
	struct zone_fits fits;
	uint32_t place[ZONES_MAX]; /* whose work each zone follows, in the booked interval */
	struct interval_work work; /* of the interval that is booked */
	struct split_scratch scratch;
	/*
	 * The explanations to fill in for the interval that is booked next, with level and row set;
	 * borrowed. Usually none.
	 */
	struct explanation *const *explained;
	size_t explained_count;
};

void accountant_release(struct accountant *accountant);
/* To be called at the start and after a reload; zones that exist already follow the new options. */
void accountant_configure(struct accountant *accountant, const struct idle_options *options,
			  uint64_t settle_ns);
/* To be called at the start and after a reload: the rules by which dynamic energy is shared. */
void accountant_share_by(struct accountant *accountant, const struct share_options *options);
/*
 * From the next interval on a new series shows 0 for @settle_ns. A series that still shows 0 now
 * does so until @settle_ns after its birth; a series that already shows its value is not affected.
 */
void accountant_set_settle(struct accountant *accountant, uint64_t settle_ns);
/* Do rows get a part of the idle energy of zones in @domain, so that they need columns for it? */
bool accountant_shares_idle(const struct accountant *accountant, const struct domain *domain);
/* There must be room: zone_count < ZONES_MAX. @zone lives as long as the accountant. */
void accountant_adopt(struct accountant *accountant, const struct zone *zone,
		      const struct idle_options *options, int64_t boottime_ms);
/*
 * To be called after adopting all zones that were found at once; @known zones existed before. Those
 * stay in the total, or out of it, once energy of any zone has been booked.
 */
void accountant_choose_total(struct accountant *accountant, size_t known);
/*
 * Before an interval, after adopting: decides which zones count in it. A zone that has ended also
 * ends in the ledger.
 */
void accountant_settle_ranks(struct accountant *accountant);
/* Is a better source of its energy charged, for good? */
bool accountant_has_ended(const struct accountant *accountant, size_t zone);
/* Does a zone count that is silent (energy/rank.h)? */
bool accountant_is_silent(const struct accountant *accountant);
/* Is the zone to be read: it has not ended, or may have to count again? */
bool accountant_needs(const struct accountant *accountant, size_t zone);
/* Between ledger_begin() and ledger_close(). */
void accountant_book(struct accountant *accountant, const struct interval *interval);
