/* SPDX-License-Identifier: Apache-2.0 */
/* An owner as a test describes it: its names are interned on the way into the ledger. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "attribution/ledger.h"

struct test_owner {
	struct owner_names names;
	uint32_t size_millicpu;
	bool waiting;
	bool has_pod_names;
	uint64_t bearer_ns;
};

/* ledger_container() of it. */
static inline uint32_t enter_owner(struct ledger *ledger, const struct test_owner *owner)
{
	const struct ledger_owner entered = {
		.names = owner_names_intern(ledger_names(ledger), &owner->names),
		.size_millicpu = owner->size_millicpu,
		.waiting = owner->waiting,
		.has_pod_names = owner->has_pod_names,
		.bearer_ns = owner->bearer_ns,
	};
	uint32_t container;

	assert_non_null(entered.names);
	container = ledger_container(ledger, &entered);
	owner_names_unref(entered.names);
	return container;
}
