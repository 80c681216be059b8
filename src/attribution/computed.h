/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantities that are computed from the energy that rows were charged, such as the carbon dioxide
 * of its generation, as a table: rows get a column of each one that is wanted, and ledger,
 * snapshots, pages and recordings follow. A quantity foo is a file computed_foo.c, a row of
 * computed_quantities[], and a member of struct computed_options, which holds the values of its
 * options. Its sums have to add up as energy does: Σ rows + unattributed = node. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution/ledger.h"
#include "base/macro.h"
#include "energy/quantity.h"
#include "options/option_set.h"

struct accountant;

struct computed_options {
};

/* Rows over a quantity's options, which are @member of struct computed_options. */
#define COMPUTED_OPTIONS(rows, member)                                                             \
	{                                                                                          \
		rows, ARRAY_SIZE(rows), offsetof(struct computed_options, member)                  \
	}

struct computed_ops {
	struct quantity quantity;
	struct option_section options; /* COMPUTED_OPTIONS() */
	bool (*is_wanted)(const struct computed_options *options);
	/*
	 * Charges @column of the rows of an interval whose energy is charged, and of the node
	 * (ledger_node_sum()).
	 */
	void (*book)(struct ledger *ledger, const struct accountant *accountant, uint32_t column,
		     const struct computed_options *options);
};

/* NULL ends it. */
extern const struct computed_ops *const computed_quantities[];

/* Options of the @index-th quantity, relative to struct computed_options; NULL after the last. */
const struct option_section *computed_options_at(size_t index);
/*
 * Rows get columns of the quantities that are wanted and that they do not have yet; @first: the
 * interval is the first of all. Before ledger_begin(). 0, or -ENOMEM: those that are new wait.
 */
int computed_follow(struct ledger *ledger, const struct computed_options *options, bool first,
		    uint64_t now_ns);
/* Books those that count (ledger_counts()). Between the charges of energy and ledger_close(). */
void computed_book(struct ledger *ledger, const struct accountant *accountant,
		   const struct computed_options *options, uint64_t now_ns, uint64_t settle_ns);
