// SPDX-License-Identifier: Apache-2.0
/*
 * Each process that began after the oldest tree has an entry while it lives and for some time
 * after: for children that are reported later, and for energy that comes late. An entry belongs to
 * a tree, to none, or waits for its parent's.
 */
#include "stat/process_trees.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/map.h"
#include "base/num.h"

#define KEPT_NS      (60 * NSEC_PER_SEC) /* an ended process of a tree */
#define WAIT_NS      (5 * NSEC_PER_SEC)  /* for a parent; a grace period is far shorter */
#define HOLD_NS      (20 * NSEC_PER_SEC) /* an ended process, for a meter that is late */
#define START_TICK   (10 * NSEC_PER_MSEC)
#define TREE_WAITING (TREE_NONE - 1)

struct entry {
	struct tree_id id, parent;
	uint64_t seen_ns;  /* first */
	uint64_t ended_ns; /* 0: it lives */
	uint64_t *held;    /* [held_columns], while it waits; or NULL */
	uint32_t held_columns;
	uint32_t next_free;
	uint8_t tree; /* its number, TREE_NONE or TREE_WAITING */
	bool is_used;
	bool is_short; /* it had ended when it was first seen */
	char comm[LEDGER_COMM_MAX];
};

/* A process that has ended, and has energy to come. */
struct held_end {
	struct tree_id id;
	uint64_t ended_ns; /* MONOTONIC */
};

struct process_trees {
	struct process_tree tree[TREES_MAX];
	uint32_t count;
	uint64_t since_ns; /* the begin of the oldest tree */
	struct map map;
	struct entry *entries; /* [size] */
	uint32_t size, high, first_free;
	uint32_t waiting;
	/* MONOTONIC: the end of the last interval; up to when all meters of the total are read. */
	uint64_t time_ns, read_ns;
	bool is_behind;             /* one of these was not read in it */
	struct held_end *held_ends; /* [held_count]; they outlive their trees */
	size_t held_count, held_size;
};

int process_trees_new(struct process_trees **ret)
{
	struct process_trees *trees = calloc(1, sizeof(*trees));

	if (!trees)
		return -ENOMEM;
	map_init(&trees->map, TREE_PROCESSES);
	trees->first_free = MAP_NONE;
	*ret = trees;
	return 0;
}

static struct map_key key_of(const struct tree_id *id)
{
	return (struct map_key){ .hi = id->pid, .lo = id->start_ns };
}

static void forget_all(struct process_trees *trees)
{
	for (uint32_t i = 0; i < trees->high; i++)
		free(trees->entries[i].held);
	free(trees->entries);
	map_release(&trees->map);
	map_init(&trees->map, TREE_PROCESSES);
	trees->entries = NULL;
	trees->size = trees->high = trees->waiting = 0;
	trees->first_free = MAP_NONE;
}

void process_trees_free(struct process_trees *trees)
{
	if (!trees)
		return;
	for (uint32_t i = 0; i < TREES_MAX; i++)
		free(trees->tree[i].accounts);
	forget_all(trees);
	free(trees->held_ends);
	map_release(&trees->map);
	free(trees);
}

bool process_trees_any(const struct process_trees *trees)
{
	return trees->count > 0;
}

const struct process_tree *process_trees_at(const struct process_trees *trees, uint32_t tree)
{
	return tree < TREES_MAX && trees->tree[tree].is_used ? &trees->tree[tree] : NULL;
}

int process_trees_begin(struct process_trees *trees, const struct tree_id *root, uint64_t now_ns)
{
	for (uint32_t i = 0; i < TREES_MAX; i++) {
		if (trees->tree[i].is_used)
			continue;
		trees->tree[i] = (struct process_tree){
			.is_used = true,
			.root = *root,
			.began_ns = now_ns,
		};
		if (!trees->count++)
			trees->since_ns = now_ns;
		return (int)i;
	}
	return -ENOSPC;
}

static struct entry *find(const struct process_trees *trees, const struct tree_id *id)
{
	uint32_t index = map_find(&trees->map, key_of(id));

	return index == MAP_NONE ? NULL : &trees->entries[index];
}

/* The tree that @tree lies in, or TREE_NONE. */
static uint8_t outer_of(const struct process_trees *trees, uint8_t tree)
{
	const struct entry *root = find(trees, &trees->tree[tree].root);

	return root && root->tree < TREES_MAX && root->tree != tree ? root->tree : TREE_NONE;
}

void process_trees_end(struct process_trees *trees, uint32_t tree)
{
	uint8_t outer;

	if (!process_trees_at(trees, tree))
		return;
	outer = outer_of(trees, (uint8_t)tree);
	for (uint32_t i = 0; i < trees->high; i++) {
		if (trees->entries[i].is_used && trees->entries[i].tree == tree)
			trees->entries[i].tree = outer;
	}
	free(trees->tree[tree].accounts);
	trees->tree[tree] = (struct process_tree){ .is_used = false };
	if (!--trees->count)
		forget_all(trees);
}

/* ---- a tree's sums ---- */

static void copy_comm(char ret[static LEDGER_COMM_MAX], const char *comm)
{
	(void)snprintf(ret, LEDGER_COMM_MAX, "%s", comm);
}

static struct tree_command *command_of(struct process_tree *tree, const char *comm)
{
	uint32_t i = 0;

	while (i < tree->command_count && strcmp(tree->commands[i].comm, comm) != 0)
		i++;
	if (i == tree->command_count && tree->command_count < TREE_COMMANDS_MAX) {
		tree->command_count++;
		copy_comm(tree->commands[i].comm, i == TREE_COMMANDS_MAX - 1 ? "other" : comm);
	}
	return &tree->commands[i < TREE_COMMANDS_MAX ? i : TREE_COMMANDS_MAX - 1];
}

/* Counts a process of @tree, and of those around it, under @comm: by 1 or -1. */
static void count_process(struct process_trees *trees, uint8_t tree, const char *comm, int by)
{
	for (uint32_t depth = 0; tree != TREE_NONE && depth < TREES_MAX; depth++) {
		command_of(&trees->tree[tree], comm)->processes += (uint32_t)by;
		tree = outer_of(trees, tree);
	}
}

static void charge_tree(struct process_tree *tree, const struct layout *layout,
			const struct tree_interval *interval, const uint64_t *values,
			uint32_t columns, const char *comm)
{
	struct tree_command *command = command_of(tree, comm);

	tree->cpu_ns += values[COLUMN_CPU];
	command->cpu_ns += values[COLUMN_CPU];
	for (uint32_t a = 0; a < tree->account_count; a++) {
		const struct account *account = &layout->accounts[a];
		struct tree_account *sum = &tree->accounts[a];
		uint64_t all_uj = 0;

		for (enum energy_mode mode = 0; mode < MODE_COUNT; mode++) {
			uint32_t column = account->column[mode];

			if (column == COLUMN_NONE || column >= columns)
				continue;
			sum->energy_uj[mode] += values[column];
			all_uj += values[column];
		}
		if (interval->error_ratio)
			sum->error_uj += interval->error_ratio[a] * (double)all_uj;
		if (interval->in_total[a])
			command->energy_uj += all_uj;
	}
}

static void charge(struct process_trees *trees, uint8_t tree, const struct layout *layout,
		   const struct tree_interval *interval, const uint64_t *values, uint32_t columns,
		   const char *comm)
{
	for (uint32_t depth = 0; tree != TREE_NONE && depth < TREES_MAX; depth++) {
		charge_tree(&trees->tree[tree], layout, interval, values, columns, comm);
		tree = outer_of(trees, tree);
	}
}

/* ---- entries ---- */

static void count_missed(struct process_trees *trees)
{
	for (uint32_t i = 0; i < TREES_MAX; i++)
		trees->tree[i].missed += trees->tree[i].is_used;
}

static struct entry *add_entry(struct process_trees *trees, const struct tree_process *process,
			       uint64_t now_ns)
{
	uint32_t index = trees->first_free;
	struct entry *entry;

	if (index == MAP_NONE && ARRAY_RESERVE(trees->entries, trees->size, trees->high + 1U) < 0)
		return NULL;
	if (index == MAP_NONE)
		index = trees->high;
	if (map_put(&trees->map, key_of(&process->id), index) < 0)
		return NULL;
	if (index == trees->high)
		trees->high++;
	else
		trees->first_free = trees->entries[index].next_free;
	entry = &trees->entries[index];
	*entry = (struct entry){
		.id = process->id,
		.parent = process->parent,
		.seen_ns = now_ns,
		.tree = TREE_WAITING,
		.is_used = true,
		.is_short = process->has_ended,
	};
	copy_comm(entry->comm, process->comm);
	trees->waiting++;
	return entry;
}

static void remove_entry(struct process_trees *trees, uint32_t index)
{
	struct entry *entry = &trees->entries[index];

	(void)map_remove(&trees->map, key_of(&entry->id));
	free(entry->held);
	*entry = (struct entry){ .next_free = trees->first_free };
	trees->first_free = index;
}

/* The start of a root is as exact as /proc has it until the root is seen. */
static bool is_root(struct process_tree *tree, const struct tree_id *id)
{
	uint64_t apart_ns = tree->root.start_ns > id->start_ns ? tree->root.start_ns - id->start_ns
							       : id->start_ns - tree->root.start_ns;

	if (!tree->is_used || tree->root.pid != id->pid || apart_ns > START_TICK)
		return false;
	tree->root.start_ns = id->start_ns;
	return true;
}

static void rename_entry(struct process_trees *trees, struct entry *entry, const char *comm)
{
	if (strcmp(entry->comm, comm) == 0)
		return;
	if (entry->tree < TREES_MAX) {
		count_process(trees, entry->tree, entry->comm, -1);
		count_process(trees, entry->tree, comm, 1);
	}
	copy_comm(entry->comm, comm);
}

void process_trees_see(struct process_trees *trees, const struct tree_process *process,
		       uint64_t now_ns)
{
	struct entry *entry = find(trees, &process->id);

	for (uint32_t i = 0; process->has_ended && i < TREES_MAX; i++)
		trees->tree[i].root_has_ended |= is_root(&trees->tree[i], &process->id);
	if (!entry && (!trees->count || process->id.start_ns < trees->since_ns))
		return;
	if (!entry)
		entry = add_entry(trees, process, now_ns);
	if (!entry) {
		count_missed(trees);
		return;
	}
	if (entry->tree == TREE_WAITING && process->parent.pid)
		entry->parent = process->parent;
	rename_entry(trees, entry, process->comm);
	if (process->has_ended && !entry->ended_ns)
		entry->ended_ns = now_ns;
}

/* ---- which tree does a process belong to? ---- */

/* TREE_WAITING: it is not known yet. */
static uint8_t tree_of_child(struct process_trees *trees, const struct tree_id *parent)
{
	const struct entry *entry;

	for (uint8_t i = 0; i < TREES_MAX; i++) {
		if (is_root(&trees->tree[i], parent))
			return i;
	}
	if (!parent->pid)
		return TREE_WAITING;
	if (parent->start_ns < trees->since_ns)
		return TREE_NONE;
	entry = find(trees, parent);
	return entry ? entry->tree : TREE_WAITING;
}

static void settle(struct process_trees *trees, struct entry *entry, uint8_t tree,
		   const struct layout *layout, const struct tree_interval *interval)
{
	entry->tree = tree;
	trees->waiting--;
	if (tree < TREES_MAX) {
		count_process(trees, tree, entry->comm, 1);
		if (entry->held)
			charge(trees, tree, layout, interval, entry->held, entry->held_columns,
			       entry->comm);
	}
	for (uint32_t depth = 0; tree < TREES_MAX && depth < TREES_MAX; depth++) {
		trees->tree[tree].processes++;
		trees->tree[tree].short_processes += entry->is_short;
		tree = outer_of(trees, tree);
	}
	free(TAKE_PTR(entry->held));
}

/* Parents may come after their children, so until no more are found. */
static void settle_all(struct process_trees *trees, const struct layout *layout,
		       const struct tree_interval *interval)
{
	bool has_changed = trees->waiting > 0;

	while (has_changed) {
		has_changed = false;
		for (uint32_t i = 0; i < trees->high; i++) {
			struct entry *entry = &trees->entries[i];
			uint8_t tree;

			if (!entry->is_used || entry->tree != TREE_WAITING)
				continue;
			tree = tree_of_child(trees, &entry->parent);
			if (tree == TREE_WAITING)
				continue;
			settle(trees, entry, tree, layout, interval);
			has_changed = true;
		}
	}
}

/* ---- an interval ---- */

static void hold(struct entry *entry, const uint64_t *deltas, uint32_t columns)
{
	uint64_t *held = entry->held;

	if (!held || entry->held_columns < columns) {
		held = realloc(entry->held, columns * sizeof(*held));
		if (!held)
			return;
		memset(held + entry->held_columns, 0,
		       (columns - entry->held_columns) * sizeof(*held));
		entry->held = held;
		entry->held_columns = columns;
	}
	for (uint32_t c = 0; c < columns; c++)
		held[c] += deltas[c];
}

static void charge_rows(struct process_trees *trees, const struct ledger *ledger,
			const struct tree_interval *interval)
{
	uint32_t columns = ledger_columns(ledger);
	size_t count;
	const uint32_t *touched = ledger_touched(ledger, LEVEL_PROCESS, &count);

	for (size_t i = 0; i < count; i++) {
		const struct ledger_process *row = ledger_process_at(ledger, touched[i]);
		const struct tree_id id = { row->pid, row->start_ns };
		const uint64_t *deltas = ledger_deltas(ledger, LEVEL_PROCESS, touched[i]);
		struct entry *entry = deltas ? find(trees, &id) : NULL;

		if (entry && entry->tree == TREE_WAITING)
			hold(entry, deltas, columns);
		else if (entry && entry->tree != TREE_NONE)
			charge(trees, entry->tree, ledger_layout(ledger), interval, deltas, columns,
			       row->comm);
	}
}

static int reserve_accounts(struct process_tree *tree, uint32_t count)
{
	int r = ARRAY_RESERVE(tree->accounts, tree->account_room, count);

	while (r == 0 && tree->account_count < count)
		tree->accounts[tree->account_count++] = (struct tree_account){ 0 };
	return r;
}

/* The node's idle energy that no row was charged, for the time that the tree existed. */
static void add_idle(struct process_tree *tree, const struct ledger *ledger,
		     const struct tree_interval *interval)
{
	const struct layout *layout = ledger_layout(ledger);
	uint64_t from_ns = interval->now_ns - interval->elapsed_ns;
	uint64_t span_ns = interval->now_ns - (tree->began_ns > from_ns ? tree->began_ns : from_ns);

	if (!interval->elapsed_ns || tree->began_ns > interval->now_ns)
		return;
	for (uint32_t a = 0; a < tree->account_count; a++) {
		const struct account *account = &layout->accounts[a];
		uint64_t idle_uj = 0;

		if (account->column[MODE_IDLE] != COLUMN_NONE)
			continue;
		for (uint32_t z = account->first_zone; z != ZONE_NONE; z = layout->zones[z].next)
			idle_uj += ledger_node_delta(ledger, z, MODE_IDLE);
		tree->accounts[a].node_idle_uj +=
			muldiv_u64(idle_uj, span_ns, interval->elapsed_ns);
	}
}

static void forget_old(struct process_trees *trees, uint64_t now_ns)
{
	for (uint32_t i = 0; i < trees->high; i++) {
		struct entry *entry = &trees->entries[i];

		if (!entry->is_used)
			continue;
		if (entry->tree == TREE_WAITING && now_ns - entry->seen_ns > WAIT_NS) {
			entry->tree = TREE_NONE;
			free(TAKE_PTR(entry->held));
			trees->waiting--;
			count_missed(trees);
		}
		if (entry->ended_ns &&
		    now_ns - entry->ended_ns > (entry->tree == TREE_NONE ? WAIT_NS : KEPT_NS))
			remove_entry(trees, i);
	}
}

/* ---- ends that wait for energy ---- */

static void note_meters(struct process_trees *trees, uint32_t accounts,
			const struct tree_interval *interval)
{
	trees->time_ns = trees->read_ns = interval->time_ns;
	for (uint32_t a = 0; a < accounts; a++) {
		if (interval->in_total[a] && interval->read_ns[a] < trees->read_ns)
			trees->read_ns = interval->read_ns[a];
	}
	trees->is_behind =
		interval->elapsed_ns && trees->read_ns + interval->elapsed_ns < interval->time_ns;
}

/* Accounts that are not read up to @ended_ns are no longer waited for. */
static void give_up(struct process_trees *trees, uint64_t ended_ns)
{
	for (uint32_t i = 0; i < TREES_MAX; i++) {
		struct process_tree *tree = &trees->tree[i];

		for (uint32_t a = 0; tree->is_used && a < tree->account_count; a++)
			tree->accounts[a].is_lost |=
				tree->accounts[a].in_total && tree->accounts[a].read_ns < ended_ns;
	}
}

bool process_trees_hold(struct process_trees *trees, const struct tree_id *id)
{
	const struct entry *entry = trees->is_behind ? find(trees, id) : NULL;

	if (!entry || entry->tree == TREE_NONE)
		return false;
	if (trees->held_count >= TREE_HELD_MAX ||
	    ARRAY_RESERVE(trees->held_ends, trees->held_size, trees->held_count + 1) < 0) {
		give_up(trees, trees->time_ns);
		return false;
	}
	trees->held_ends[trees->held_count++] = (struct held_end){ *id, trees->time_ns };
	return true;
}

bool process_trees_next_due(struct process_trees *trees, uint64_t time_ns, struct tree_id *ret)
{
	for (size_t i = 0; i < trees->held_count; i++) {
		const struct held_end *end = &trees->held_ends[i];
		bool is_read = trees->time_ns == time_ns && trees->read_ns >= end->ended_ns;

		if (trees->count && !is_read && time_ns - end->ended_ns < HOLD_NS)
			continue;
		if (trees->count && !is_read)
			give_up(trees, end->ended_ns);
		*ret = end->id;
		trees->held_ends[i] = trees->held_ends[--trees->held_count];
		return true;
	}
	return false;
}

void process_trees_book(struct process_trees *trees, const struct ledger *ledger,
			const struct tree_interval *interval)
{
	const struct layout *layout = ledger_layout(ledger);

	if (!trees->count)
		return;
	note_meters(trees, layout->account_count, interval);
	for (uint32_t i = 0; i < TREES_MAX; i++) {
		struct process_tree *tree = &trees->tree[i];

		if (!tree->is_used)
			continue;
		/* Without memory the newest accounts are not counted. */
		(void)reserve_accounts(tree, layout->account_count);
		for (uint32_t a = 0; a < tree->account_count; a++) {
			tree->accounts[a].in_total = interval->in_total[a];
			tree->accounts[a].read_ns = interval->read_ns[a];
		}
		add_idle(tree, ledger, interval);
		tree->booked_ns = interval->now_ns;
	}
	settle_all(trees, layout, interval);
	charge_rows(trees, ledger, interval);
	forget_old(trees, interval->now_ns);
}

uint32_t process_trees_left(const struct process_trees *trees, uint32_t tree, struct tree_left *ret,
			    uint32_t max)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < trees->high; i++) {
		const struct entry *entry = &trees->entries[i];

		if (!entry->is_used || entry->tree != tree || entry->ended_ns)
			continue;
		if (count < max) {
			ret[count].pid = entry->id.pid;
			memcpy(ret[count].comm, entry->comm, LEDGER_COMM_MAX);
		}
		count++;
	}
	return count;
}
