// SPDX-License-Identifier: Apache-2.0
#include "snapshot/process_users.h"

#include <stdlib.h>

#include "base/array.h"

struct process_user {
	uint64_t start_ns;
	uint32_t pid; /* 0: not known */
	uint32_t user;
};

void process_users_note(struct process_users *users, const struct ledger *ledger, uint32_t row,
			uint32_t user)
{
	const struct ledger_process *process = ledger_process_at(ledger, row);
	uint32_t before = users->room;

	if (ARRAY_RESERVE(users->row, users->room, row + 1) < 0)
		return;
	for (uint32_t i = before; i < users->room; i++)
		users->row[i] = (struct process_user){ 0 };
	users->row[row] = (struct process_user){ process->start_ns, process->pid, user };
}

bool process_users_find(const struct process_users *users, const struct ledger *ledger,
			uint32_t row, uint32_t *ret_user)
{
	const struct ledger_process *process = ledger_process_at(ledger, row);
	const struct process_user *its = row < users->room ? &users->row[row] : NULL;

	if (!its || its->pid != process->pid || its->start_ns != process->start_ns)
		return false;
	*ret_user = its->user;
	return true;
}

void process_users_release(struct process_users *users)
{
	free(users->row);
	*users = (struct process_users){ 0 };
}
