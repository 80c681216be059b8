/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which user each process of an interval has: noted by the engine next to the ledger's rows, only
 * while a client asks for the users' power, so that it costs nothing otherwise. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "attribution/ledger.h"

struct process_user;

/* All zero at first. */
struct process_users {
	struct process_user *row; /* by the process's row in the ledger */
	uint32_t room;
	bool is_noted; /* users are noted in this interval */
};

/* The process in @row of the ledger has that @user. Without memory it stays unknown. */
void process_users_note(struct process_users *users, const struct ledger *ledger, uint32_t row,
			uint32_t user);
/* False: not known. A row of a process that has ended may have gone to another one. */
bool process_users_find(const struct process_users *users, const struct ledger *ledger,
			uint32_t row, uint32_t *ret_user);
void process_users_release(struct process_users *users);
