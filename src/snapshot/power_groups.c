// SPDX-License-Identifier: Apache-2.0
/*
 * Each view is a list of shares, one for a row of the ledger (a process, an owner, a zone), with
 * the key of the group that it belongs to. Shares of one key are added up. The power of a row is
 * rounded down before it is added, as it is in the picture's other rows, so that the sums of all
 * views and levels agree to the microwatt.
 */
#include "snapshot/power_groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "energy/total.h"
#include "snapshot/account_picture.h"
#include "snapshot/snapshot.h"

struct power_share {
	uint64_t key;
	uint64_t power_uw, energy_uj, cpu_ns;
	uint32_t row;
};

/* The ends of units' names (systemd.unit(5)), as far as units of that kind have processes. */
static bool is_service(const struct owner_names *names)
{
	static const char *const kinds[] = { ".service", ".scope", ".socket",
					     ".mount",   ".swap",  ".slice" };
	const char *const *text = names->text;
	const char *kind = strrchr(text[LABEL_CONTAINER_NAME], '.');

	if (!kind || text[LABEL_RUNTIME][0] || text[LABEL_POD_ID][0] || text[LABEL_VM_ID][0])
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(kind, kinds[i]) == 0)
			return true;
	}
	return false;
}

static struct power_share share_of(const struct counting *counting, enum level level, uint32_t row,
				   const uint64_t *deltas)
{
	return (struct power_share){
		.power_uw = counting_row_power_uw(counting, deltas),
		.energy_uj = counting_row_energy_uj(counting,
						    ledger_values(counting->ledger, level, row)),
		.cpu_ns = deltas[COLUMN_CPU],
		.row = row,
	};
}

/* Returns the number of shares. */
static uint32_t share_owners(const struct counting *counting, struct power_share *shares)
{
	const struct ledger *ledger = counting->ledger;
	uint32_t used = 0;
	size_t count;
	const uint32_t *touched = ledger_touched(ledger, LEVEL_CONTAINER, &count);

	for (size_t i = 0; i < count; i++) {
		const uint64_t *deltas = ledger_deltas(ledger, LEVEL_CONTAINER, touched[i]);
		const struct owner_names *names = ledger_container_at(ledger, touched[i])->names;

		if (!deltas || !is_service(names))
			continue;
		shares[used] = share_of(counting, LEVEL_CONTAINER, touched[i], deltas);
		shares[used++].key = owner_names_id_hash(names);
	}
	return used;
}

/* The ledger has no sums of users, so that their energy since the start is not known. */
static uint32_t share_processes(const struct counting *counting, const struct process_users *users,
				struct power_share *shares)
{
	const struct ledger *ledger = counting->ledger;
	uint32_t used = 0, user;
	size_t count;
	const uint32_t *touched = ledger_touched(ledger, LEVEL_PROCESS, &count);

	for (size_t i = 0; i < count; i++) {
		const uint64_t *deltas = ledger_deltas(ledger, LEVEL_PROCESS, touched[i]);

		if (!deltas || !process_users_find(users, ledger, touched[i], &user))
			continue;
		shares[used] = share_of(counting, LEVEL_PROCESS, touched[i], deltas);
		shares[used].energy_uj = 0;
		shares[used++].key = user;
	}
	return used;
}

static bool is_gpu(const struct counting *counting, uint32_t z)
{
	const struct snapshot_zone *zone = &counting->zones[z];

	return zone->zone.domain.kind == DOMAIN_DEVICE && zone->total != TOTAL_NONE && !zone->ended;
}

/* The energy of the zone that rows were charged. */
static struct power_share share_of_zone(const struct counting *counting, uint32_t z)
{
	const struct ledger *ledger = counting->ledger;
	const struct layout *layout = counting_layout(counting);
	uint64_t delta_uj = 0, span_ns;
	struct power_share share = { .key = z, .row = z };

	for (enum energy_mode mode = 0; mode < MODE_COUNT; mode++) {
		delta_uj += ledger_node_delta(ledger, z, mode) -
			    ledger_unattributed_delta(ledger, z, mode);
		share.energy_uj += ledger_node_value(ledger, z, mode);
		for (enum unattributed_reason reason = 0; reason < UNATTRIBUTED_REASON_COUNT;
		     reason++)
			share.energy_uj -= ledger_unattributed_value(ledger, z, mode, reason);
	}
	span_ns = account_span_ns(layout, layout->zones[z].account, counting->zones);
	share.power_uw = counting->is_known ? counting_power_uw(delta_uj, span_ns) : 0;
	return share;
}

static uint32_t share_zones(const struct counting *counting, struct power_share *shares)
{
	uint32_t used = 0;

	for (uint32_t z = 0; z < ledger_zones(counting->ledger); z++) {
		if (is_gpu(counting, z))
			shares[used++] = share_of_zone(counting, z);
	}
	return used;
}

static int by_key(const void *a, const void *b)
{
	const struct power_share *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static int largest_first(const void *a, const void *b)
{
	const struct power_share *x = a, *y = b;

	if (x->power_uw != y->power_uw)
		return x->power_uw < y->power_uw ? 1 : -1;
	if (x->cpu_ns != y->cpu_ns)
		return x->cpu_ns < y->cpu_ns ? 1 : -1;
	return by_key(a, b);
}

/* Adds up the shares of each key. Returns how many are left. */
static uint32_t merge(struct power_share *shares, uint32_t count)
{
	uint32_t kept = 0;

	qsort(shares, count, sizeof(*shares), by_key);
	for (uint32_t i = 0; i < count; i++) {
		struct power_share *last = kept ? &shares[kept - 1] : NULL;

		if (!last || last->key != shares[i].key) {
			shares[kept++] = shares[i];
			continue;
		}
		last->power_uw += shares[i].power_uw;
		last->energy_uj += shares[i].energy_uj;
		last->cpu_ns += shares[i].cpu_ns;
	}
	qsort(shares, kept, sizeof(*shares), largest_first);
	return kept;
}

static void write_row(const struct counting *counting, enum view view,
		      const struct power_share *share, struct power_row *ret)
{
	const struct ledger *ledger = counting->ledger;

	*ret = (struct power_row){
		.power_uw = share->power_uw,
		.energy_uj = share->energy_uj,
		.cpu_ns = share->cpu_ns,
		.number = view == VIEW_SERVICE ? 0 : (uint32_t)share->key,
	};
	for (enum level level = 0; level < LEVEL_COUNT; level++)
		ret->belongs_to[level] = POWER_ROW_NONE;
	if (view == VIEW_SERVICE)
		owner_text(ledger_container_at(ledger, share->row)->names, true, ret->owner);
	else if (view == VIEW_USER)
		(void)snprintf(ret->owner, sizeof(ret->owner), "%u", ret->number);
	else
		(void)snprintf(ret->owner, sizeof(ret->owner), "%s %u %s",
			       zone_kind_name(counting->zones[share->row].zone.kind),
			       counting->zones[share->row].zone.domain.number,
			       counting->zones[share->row].zone.instance);
}

static void add_rows(const struct counting *counting, enum view view, uint32_t count,
		     struct power_scratch *scratch, struct power_picture *picture)
{
	struct power_list *list = &picture->view[view];
	uint32_t shown = count < POWER_ROWS_MAX ? count : POWER_ROWS_MAX;

	list->first = picture->row_count;
	if (ARRAY_RESERVE(scratch->rows, scratch->row_room, list->first + shown) < 0)
		shown = 0;
	picture->rows = scratch->rows;
	list->count = shown;
	list->left_out = count - shown;
	for (uint32_t i = 0; i < shown; i++) {
		const struct power_share *share = &scratch->shares[i];

		write_row(counting, view, share, &picture->rows[list->first + i]);
		list->other_uw -= share->power_uw;
		list->other_uj -= share->energy_uj;
		list->other_cpu_ns -= share->cpu_ns;
	}
	picture->row_count += shown;
}

static uint32_t share_view(const struct counting *counting, enum view view,
			   const struct power_scratch *scratch)
{
	const struct process_users *users = scratch->users;

	switch (view) {
	case VIEW_SERVICE:
		return share_owners(counting, scratch->shares);
	case VIEW_USER:
		return users && users->is_noted ? share_processes(counting, users, scratch->shares)
						: 0;
	case VIEW_GPU:
		return share_zones(counting, scratch->shares);
	case VIEW_COUNT:
		break;
	}
	return 0;
}

/* The most shares that a view can have. */
static uint32_t most_shares(const struct counting *counting)
{
	size_t processes, owners, most = ledger_zones(counting->ledger);

	(void)ledger_touched(counting->ledger, LEVEL_PROCESS, &processes);
	(void)ledger_touched(counting->ledger, LEVEL_CONTAINER, &owners);
	most = processes > most ? processes : most;
	return (uint32_t)(owners > most ? owners : most);
}

void power_groups_take(const struct counting *counting, uint64_t charged_uw,
		       struct power_scratch *scratch, struct power_picture *picture)
{
	bool is_made = picture->is_whole && ARRAY_RESERVE(scratch->shares, scratch->share_room,
							  most_shares(counting) + 1) == 0;

	for (enum view view = VIEW_GROUPINGS; view < VIEW_COUNT; view++) {
		uint32_t count = is_made ? share_view(counting, view, scratch) : 0;

		picture->view[view] = (struct power_list){
			.first = picture->row_count,
			.other_uw = charged_uw,
			.other_uj = counting->rows_uj,
			.other_cpu_ns = counting->cpu_ns,
		};
		count = count ? merge(scratch->shares, count) : 0;
		add_rows(counting, view, count, scratch, picture);
	}
	picture->has_users = is_made && scratch->users && scratch->users->is_noted;
}
