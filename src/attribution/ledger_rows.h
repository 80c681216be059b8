/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the ledger, shared by ledger.c (life, columns, charges, the node), ledger_processes.c,
 * ledger_containers.c and ledger_groups.c. Nothing else includes it.
 */
#pragma once

#include "attribution/ledger.h"
#include "attribution/row_index.h"
#include "attribution/row_slots.h"
#include "attribution/value_table.h"

struct process_row {
	struct ledger_process process;
	uint32_t touch; /* row of its deltas, while process.touched */
};

/*
 * Deltas are packed by order of touch: a process that did not run has none. Their memory is
 * reserved when the row is made, so that a charge cannot fail.
 */
struct process_table {
	struct row_slots slots;
	struct process_row *rows;
	struct value_table values;
	struct value_table deltas;
	struct row_index index; /* by pid and start; ended rows too, as long as they are kept */
	uint64_t overflows;
	uint32_t refused; /* of them in this interval, for want of a row */
};

/* Containers are few: each row has its deltas. */
struct container_table {
	struct row_slots slots;
	struct ledger_container *rows;
	struct value_table values;
	struct value_table deltas;
	struct row_index index; /* by hash of container_id; of "other", of its namespace */
	uint64_t overflows;
	uint32_t others;   /* of the used ones: those that stand for many */
	uint32_t replaced; /* of the used ones: those whose names have changed */
	uint32_t waiting;
	uint64_t refused[LEDGER_REFUSED_MAX]; /* hashes of ids, in this interval */
	uint32_t refused_count;
};

/* Row 0 is "other", in use from the first overflow on; its memory is always there. */
struct group_table {
	struct row_slots slots;
	struct ledger_group_row *rows;
	struct value_table values;
	struct value_table deltas;
	struct row_index index;          /* by names */
	const struct owner_names *other; /* of row 0 */
	uint64_t overflows;
};

struct ledger_zone {
	uint64_t node_uj[MODE_COUNT];
	uint64_t node_delta_uj[MODE_COUNT];
	uint64_t unattributed_uj[MODE_COUNT][UNATTRIBUTED_REASON_COUNT];
};

struct ledger {
	uint32_t max_processes;
	uint32_t max_containers;
	uint32_t zones;
	uint64_t now_ns;
	uint64_t next_serial;
	struct ledger_zone *zone; /* [zones] */
	struct names_table *names;
	uint64_t node_cpu_ns;
	struct process_table processes;
	struct container_table containers;
	struct group_table groups[LEDGER_GROUP_COUNT];
	bool closed; /* this interval's charges are in the groups */
};

void process_table_init(struct process_table *table, uint32_t limit);
void process_table_release(struct process_table *table);
void process_table_begin(struct process_table *table);
/* Puts the row on this interval's list, with deltas of 0, unless it is there. */
void process_table_touch(struct process_table *table, uint32_t process);

void container_table_init(struct container_table *table, uint32_t limit);
void container_table_release(struct container_table *table);
void container_table_begin(struct container_table *table);
void container_table_touch(struct container_table *table, uint32_t container);
/* Touches it and notes that it is in use. */
void container_table_activate(struct ledger *ledger, uint32_t container);
/* Makes a row whatever the limit of options says. LEDGER_NONE without memory. */
uint32_t container_table_add(struct ledger *ledger, const struct ledger_owner *owner);
/* Lets those go on that have waited long enough. */
void container_table_end_waits(struct ledger *ledger);

/* Makes room for row 0, and its names. 0 or -ENOMEM. */
int group_table_init(struct ledger *ledger, enum ledger_group group);
void group_table_release(struct group_table *table);
void group_table_begin(struct group_table *table);
/* Makes a container belong to the groups that its owner names, and to no other. */
void groups_join(struct ledger *ledger, struct ledger_container *container);
void groups_leave(struct ledger *ledger, struct ledger_container *container);
/* Books the interval of every container that was touched. */
void groups_book(struct ledger *ledger);

/* More than 7/8 of the limit. */
static inline bool is_crowded(uint32_t used, uint32_t limit)
{
	return used >= limit - limit / 8;
}
