// SPDX-License-Identifier: Apache-2.0
/*
 * Values are the ledger's own columns, so that sums by source and mode are made of an account as
 * they are made of a row. The energy is added when the round ends, from
 * one mark to the next.
 */
#include "attribution/unit_accounts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static uint64_t *base_of(const struct unit_account *account)
{
	return account->values + account->columns;
}

static uint64_t *mark_of(const struct unit_account *account)
{
	return account->values + 2 * (size_t)account->columns;
}

void unit_accounts_release(struct unit_accounts *accounts)
{
	for (size_t i = 0; i < accounts->count; i++)
		free(accounts->accounts[i].values);
	free(accounts->accounts);
	*accounts = (struct unit_accounts){ .count = 0 };
}

static void remove_at(struct unit_accounts *accounts, size_t index)
{
	free(accounts->accounts[index].values);
	accounts->accounts[index] = accounts->accounts[--accounts->count];
}

static bool is_there(const struct unit_account *account, const struct ledger *ledger)
{
	const struct ledger_group *group;

	if (account->row >= ledger_slots(ledger, LEVEL_POD))
		return false;
	group = ledger_group_at(ledger, LEVEL_POD, account->row);
	return group->row.used && group->row.serial == account->serial;
}

/* New columns are 0 in all three. */
static int reach_columns(struct unit_account *account, uint32_t columns)
{
	uint64_t *values;

	if (account->values && account->columns == columns)
		return 0;
	values = calloc(3 * (size_t)columns, sizeof(*values));
	if (!values)
		return -ENOMEM;
	for (size_t i = 0; account->values && i < 3; i++)
		memcpy(values + i * columns, account->values + i * account->columns,
		       account->columns * sizeof(*values));
	free(account->values);
	account->values = values;
	account->columns = columns;
	return 0;
}

void unit_accounts_mark(struct unit_accounts *accounts, const struct ledger *ledger)
{
	uint32_t columns = ledger_columns(ledger);

	for (size_t i = accounts->count; i-- > 0;) {
		struct unit_account *account = &accounts->accounts[i];

		if (!is_there(account, ledger)) {
			remove_at(accounts, i);
			continue;
		}
		account->is_read = false;
		account->is_marked = reach_columns(account, columns) == 0;
		if (account->is_marked)
			memcpy(mark_of(account), ledger_values(ledger, LEVEL_POD, account->row),
			       columns * sizeof(uint64_t));
	}
}

static bool is_pod(const struct ledger_group *group, const struct unit_reading *reading)
{
	const char *const *text;

	if (!group->row.used || !group->names) /* a hole, or the pods that found no room */
		return false;
	text = group->names->text;
	if (!text[LABEL_POD_ID][0])
		return false;
	if (reading->pod_id[0])
		return strcmp(text[LABEL_POD_ID], reading->pod_id) == 0;
	/* The members tell a pod from an earlier one of its name, which is kept for a while. */
	return group->row.members > 0 && strcmp(text[LABEL_POD_NAME], reading->pod) == 0 &&
	       strcmp(text[LABEL_NAMESPACE], reading->namespace_) == 0;
}

static uint32_t find_row(const struct ledger *ledger, const struct unit_reading *reading)
{
	uint32_t slots = ledger_slots(ledger, LEVEL_POD);

	for (uint32_t row = 0; row < slots; row++) {
		if (is_pod(ledger_group_at(ledger, LEVEL_POD, row), reading))
			return row;
	}
	return LEDGER_NONE;
}

static struct unit_account *find(const struct unit_accounts *accounts, uint32_t unit, uint32_t row)
{
	for (size_t i = 0; i < accounts->count; i++) {
		if (accounts->accounts[i].unit == unit && accounts->accounts[i].row == row)
			return &accounts->accounts[i];
	}
	return NULL;
}

static size_t most_accounts(const struct unit_accounts *accounts)
{
	return accounts->limit && accounts->limit < UNIT_ACCOUNTS_MAX ? accounts->limit
								      : UNIT_ACCOUNTS_MAX;
}

void unit_accounts_read(struct unit_accounts *accounts, const struct ledger *ledger,
			const struct unit_reading *reading, int64_t boottime_ms)
{
	uint32_t row = find_row(ledger, reading);
	struct unit_account *account;

	if (row == LEDGER_NONE)
		return;
	account = find(accounts, reading->unit, row);
	if (account && !is_there(account, ledger)) {
		remove_at(accounts, (size_t)(account - accounts->accounts));
		account = NULL;
	}
	if (!account) {
		if (accounts->count >= most_accounts(accounts) ||
		    ARRAY_RESERVE(accounts->accounts, accounts->size, accounts->count + 1) < 0) {
			accounts->beyond++;
			return;
		}
		account = &accounts->accounts[accounts->count++];
		*account = (struct unit_account){
			.unit = reading->unit,
			.row = row,
			.serial = ledger_group_at(ledger, LEVEL_POD, row)->row.serial,
		};
	}
	if (!account->is_marked || account->is_read)
		return; /* it was not known when the round began, or has been read */
	if (!account->born_ms)
		account->born_ms = boottime_ms;
	if (reading->is_first)
		account->is_shown = false; /* nothing is known of the time before */
	else if (account->is_shown)
		account->amount_micro += reading->increase_micro;
	account->is_read = true;
}

/* The time between base and mark has been counted. */
static void add_energy(const struct unit_account *account)
{
	for (uint32_t i = 0; i < account->columns; i++)
		account->values[i] += mark_of(account)[i] - base_of(account)[i];
}

void unit_accounts_end(struct unit_accounts *accounts)
{
	for (size_t i = 0; i < accounts->count; i++) {
		struct unit_account *account = &accounts->accounts[i];

		if (account->is_read && account->is_shown)
			add_energy(account);
		if (account->is_read)
			memcpy(base_of(account), mark_of(account),
			       account->columns * sizeof(uint64_t));
		account->is_shown = account->is_read;
		account->is_read = account->is_marked = false;
	}
}

size_t unit_accounts_shown(const struct unit_accounts *accounts, uint32_t unit)
{
	size_t count = 0;

	for (size_t i = 0; i < accounts->count; i++)
		count += accounts->accounts[i].unit == unit && accounts->accounts[i].is_shown;
	return count;
}
