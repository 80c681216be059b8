// SPDX-License-Identifier: Apache-2.0
/*
 * A table of rows for each level, and the node's own sums. Each charge to a process is added to its
 * container at once, so that the sums agree at every moment and a row can be released without
 * touching any total.
 *
 * The file is long because a row of one level can change only together with its rows of the others:
 * a process with its container's members, a container with its groups.
 */
#include "attribution/ledger.h"

#include <errno.h>

#include "base/array.h"
#include "base/hostile.h"
#include "base/macro.h"
#include "energy/label_text.h"

#define OTHER 0U

struct ledger_zone {
	uint64_t node_uj[MODE_COUNT];
	uint64_t node_delta_uj[MODE_COUNT];
	uint64_t unattributed_uj[MODE_COUNT][UNATTRIBUTED_REASON_COUNT];
	uint64_t unattributed_delta_uj[MODE_COUNT];
};

struct ledger {
	struct level_table level[LEVEL_COUNT];
	uint64_t overflows[LEVEL_COUNT];
	uint32_t max_rows[LEVEL_COUNT];
	uint32_t max_containers; /* max_rows of containers, or more */
	struct layout layout;
	struct ledger_zone *zone; /* [layout.zone_count] */
	struct ledger_sum *sum;   /* [layout.columns] */
	uint64_t now_ns;
	struct names_table *names;
	/* Containers that stand for many, have older names, or await them. */
	uint32_t others, replaced, waiting;
	uint32_t refused_processes; /* in this interval, because no row was free */
	uint32_t refused_count;
	uint64_t refused[LEDGER_REFUSED_MAX]; /* hashes of containers' ids, in this interval */
	bool closed;                          /* this interval's charges are in the groups */
};

static struct ledger_process *process_at(const struct ledger *ledger, uint32_t process)
{
	return level_table_at(&ledger->level[LEVEL_PROCESS], process);
}

static struct ledger_container *container_at(const struct ledger *ledger, uint32_t container)
{
	return level_table_at(&ledger->level[LEVEL_CONTAINER], container);
}

static struct ledger_group *group_at(const struct ledger *ledger, enum level level, uint32_t row)
{
	return level_table_at(&ledger->level[level], row);
}

static void touch(struct ledger *ledger, enum level level, uint32_t row)
{
	level_table_touch(&ledger->level[level], row);
}

static void activate(struct ledger *ledger, uint32_t container)
{
	touch(ledger, LEVEL_CONTAINER, container);
	container_at(ledger, container)->last_active_ns = ledger->now_ns;
}

static bool has_room(const struct ledger *ledger, enum level level)
{
	return ledger_limited_rows(ledger, level) < ledger->max_rows[level];
}

/*
 * Groups: pods, VMs, namespaces. All names of a group together identify it, so that a pod with
 * changed labels continues in another row, and returns to the old row if the labels change back
 * while that is kept. Row 0 is "other": it always has memory and is used from the first overflow
 * on. A container that joins its first group of a level, as it does when its names arrive, brings
 * all of its earlier use; later it brings only its use from then on. So each microjoule is in one
 * row of each level.
 */

/* The row has a reference to its names, so that no other set has their address. */
static struct map_key group_key(const struct owner_names *names)
{
	return (struct map_key){ .lo = (uintptr_t)names };
}

static uint32_t add_group(struct ledger *ledger, enum level level, const struct owner_names *names)
{
	uint32_t row = level_table_add(&ledger->level[level], group_key(names));

	if (row == LEDGER_NONE)
		return row;
	group_at(ledger, level, row)->names = owner_names_ref(names);
	group_at(ledger, level, row)->last_active_ns = ledger->now_ns;
	return row;
}

/* Row 0, which is not used yet. 0 or -ENOMEM. */
static int add_other_group(struct ledger *ledger, enum level level)
{
	const struct level_info *info = &level_info[level];
	struct owner_names other = { 0 };
	const struct owner_names *names;
	uint32_t row;

	if (!info->takes_all)
		other.text[info->called] = "other";
	names = owner_names_intern(ledger->names, &other);
	row = names ? add_group(ledger, level, names) : LEDGER_NONE;
	owner_names_unref(names);
	if (row == LEDGER_NONE)
		return -ENOMEM;
	group_at(ledger, level, row)->row.used = false;
	return 0;
}

static uint32_t other_group(struct ledger *ledger, enum level level)
{
	group_at(ledger, level, OTHER)->row.used = true;
	return OTHER;
}

/* Facts name no series, so they may come later than names. False without memory. */
static bool learn_facts(struct ledger_group *group, enum level level,
			const struct owner_names *names)
{
	uint32_t keys = label_group_keys(level_info[level].facts);
	const struct owner_names *facts;

	if (!owner_names_know(names, keys))
		return true;
	facts = owner_names_part(names, keys);
	if (!facts)
		return false;
	owner_names_unref(group->facts);
	group->facts = facts;
	return true;
}

static uint32_t group_of_names(struct ledger *ledger, enum level level,
			       const struct owner_names *names)
{
	uint32_t row = row_index_first(&ledger->level[level].index, group_key(names));

	if (row == LEDGER_NONE && has_room(ledger, level))
		row = add_group(ledger, level, names);
	if (row == LEDGER_NONE)
		ledger->overflows[level]++;
	return row == LEDGER_NONE || row == OTHER ? other_group(ledger, level) : row;
}

static bool may_join(const struct ledger_container *container, enum level level)
{
	const struct level_info *info = &level_info[level];

	if (container->waiting && (!container->has_pod_names || info->awaits_owner_names))
		return false;
	return info->takes_all || container->names->text[info->id][0];
}

/* Without memory the container stays in its group, if it has one, and joins again later. */
static uint32_t find_group(struct ledger *ledger, struct ledger_container *container,
			   enum level level)
{
	const struct owner_names *names;
	uint32_t row = ledger_group_of(container, level);

	if (!may_join(container, level))
		return LEDGER_NONE;
	names = owner_names_part(container->names, level_keys(level));
	if (!names) {
		ledger->overflows[level]++;
		container->is_misplaced = true;
		return row != LEDGER_NONE ? row : other_group(ledger, level);
	}
	row = group_of_names(ledger, level, names);
	if (row != OTHER && !learn_facts(group_at(ledger, level, row), level, container->names))
		container->is_misplaced = true;
	owner_names_unref(names);
	return row;
}

static void move_to_group(struct ledger *ledger, struct ledger_container *container,
			  enum level level, uint32_t row)
{
	uint32_t before = ledger_group_of(container, level);

	if (row != LEDGER_NONE)
		group_at(ledger, level, row)->row.members++;
	if (before != LEDGER_NONE)
		group_at(ledger, level, before)->row.members--;
	container->group[level - LEVEL_GROUPS] = row;
}

/* Puts a container into the groups that its names call for, and takes it out of all others. */
static void join_groups(struct ledger *ledger, struct ledger_container *container)
{
	container->is_misplaced = false;
	for (enum level level = LEVEL_GROUPS; level < LEVEL_COUNT; level++)
		move_to_group(ledger, container, level, find_group(ledger, container, level));
}

static void book_to_group(struct ledger *ledger, uint32_t index, enum level level)
{
	const struct level_table *containers = &ledger->level[LEVEL_CONTAINER];
	const struct ledger_container *container = container_at(ledger, index);
	const uint64_t *deltas = level_table_deltas(containers, index);
	bool brings_all = !(container->grouped & LEVEL_BIT(level));
	struct level_table *table = &ledger->level[level];
	uint32_t row = ledger_group_of(container, level), columns = table->values.columns;

	level_table_touch(table, row);
	values_add(level_table_deltas(table, row), deltas, columns);
	values_add(level_table_values(table, row),
		   brings_all ? level_table_values(containers, index) : deltas, columns);
	if (brings_all || container->last_active_ns == ledger->now_ns)
		group_at(ledger, level, row)->last_active_ns = ledger->now_ns;
}

static void book_to_groups(struct ledger *ledger)
{
	const struct level_table *containers = &ledger->level[LEVEL_CONTAINER];

	for (uint32_t i = 0; i < containers->touched_count; i++) {
		struct ledger_container *container = container_at(ledger, containers->touched[i]);

		if (!container->row.used)
			continue;
		for (enum level level = LEVEL_GROUPS; level < LEVEL_COUNT; level++) {
			bool member = ledger_group_of(container, level) != LEDGER_NONE;

			if (member)
				book_to_group(ledger, containers->touched[i], level);
			if (member || !container->waiting)
				container->grouped |= LEVEL_BIT(level);
		}
	}
}

/*
 * Containers. The key is a hash of the container's id (FNV-1a, 64 bits), which is then compared in
 * full: a collision costs a step in a chain, never a mix-up. Row 0 is the overflow owner. A
 * container with names that changed after its series could be seen has several rows in the chain,
 * and all but one are `replaced`. One look at the index finds a row, because names carry the hash
 * of their id; names are compared only if they are not the row's own.
 */

static struct map_key id_key(const struct owner_names *names)
{
	return (struct map_key){ .lo = HOSTILE_OR(0, owner_names_id_hash(names)) };
}

/* The row "other" of a namespace has no id. */
static struct map_key other_key(const char *container_namespace)
{
	return (struct map_key){ .hi = 1,
				 .lo = HOSTILE_OR(0, owner_names_hash(container_namespace)) };
}

static struct map_key container_key(const struct ledger_container *row)
{
	return row->is_other ? other_key(row->names->text[LABEL_NAMESPACE]) : id_key(row->names);
}

/* The row with the same @keys as @names: the current row, or a @replaced row that is kept. */
static uint32_t find_container(const struct ledger *ledger, const struct owner_names *names,
			       uint32_t keys, bool replaced)
{
	const struct row_index *index = &ledger->level[LEVEL_CONTAINER].index;
	uint32_t container = row_index_first(index, id_key(names));

	for (; container != LEDGER_NONE; container = row_index_next(index, container)) {
		const struct ledger_container *row = container_at(ledger, container);

		if (row->replaced == replaced && owner_names_agree(row->names, names, keys))
			return container;
	}
	return LEDGER_NONE;
}

/* A row that is kept and has exactly these labels. */
static uint32_t find_replaced(const struct ledger *ledger, const struct ledger_owner *owner)
{
	/* An owner that waits has no names yet: until then, any row of its id will do. */
	return find_container(ledger, owner->names,
			      owner->waiting ? LABEL_BIT(LABEL_CONTAINER_ID) : LABELS_CONTAINER,
			      true);
}

static uint32_t find_other(const struct ledger *ledger, const char *container_namespace)
{
	const struct row_index *index = &ledger->level[LEVEL_CONTAINER].index;
	uint32_t container = row_index_first(index, other_key(container_namespace));

	while (container != LEDGER_NONE &&
	       strcmp(container_at(ledger, container)->names->text[LABEL_NAMESPACE],
		      container_namespace) != 0)
		container = row_index_next(index, container);
	return container;
}

/* Makes a row regardless of the limit. LEDGER_NONE without memory. */
static uint32_t add_container(struct ledger *ledger, const struct ledger_owner *owner,
			      bool is_other)
{
	struct ledger_container wanted = { .names = owner->names, .is_other = is_other }, *row;
	uint32_t container =
		level_table_add(&ledger->level[LEVEL_CONTAINER], container_key(&wanted));

	if (container == LEDGER_NONE)
		return LEDGER_NONE;
	row = container_at(ledger, container);
	row->names = owner_names_ref(owner->names);
	row->size_millicpu = owner->size_millicpu;
	row->has_pod_names = owner->has_pod_names;
	row->waiting = owner->waiting;
	row->is_other = is_other;
	row->made_ns = ledger->now_ns;
	row->bearer_ns = owner->bearer_ns;
	for (enum level level = LEVEL_GROUPS; level < LEVEL_COUNT; level++)
		row->group[level - LEVEL_GROUPS] = LEDGER_NONE;
	ledger->others += is_other;
	ledger->waiting += owner->waiting;
	join_groups(ledger, row);
	activate(ledger, container);
	return container;
}

static void note_refusal(struct ledger *ledger, const struct owner_names *names)
{
	uint64_t hash = owner_names_id_hash(names);

	for (uint32_t i = 0; i < ledger->refused_count; i++) {
		if (ledger->refused[i] == hash)
			return;
	}
	ledger->overflows[LEVEL_CONTAINER]++;
	if (ledger->refused_count < LEDGER_REFUSED_MAX)
		ledger->refused[ledger->refused_count++] = hash;
}

static uint32_t add_other(struct ledger *ledger, const char *container_namespace)
{
	const struct owner_names names = {
		.text = { [LABEL_CONTAINER_NAME] = "other",
			  [LABEL_NAMESPACE] = container_namespace },
	};
	const struct ledger_owner other = { .names = owner_names_intern(ledger->names, &names) };
	uint32_t container = other.names ? add_container(ledger, &other, true) : LEDGER_NONE;

	owner_names_unref(other.names);
	return container;
}

/* The row that is charged for an owner without a row of its own. */
static uint32_t other_container(struct ledger *ledger, const struct owner_names *names)
{
	const char *container_namespace = names->text[LABEL_NAMESPACE];
	uint32_t container = find_other(ledger, container_namespace);

	if (container == LEDGER_NONE && ledger->others < ledger->max_rows[LEVEL_CONTAINER])
		container = add_other(ledger, container_namespace);
	return container == LEDGER_NONE ? 0 : container;
}

static void end_wait(struct ledger *ledger, uint32_t container)
{
	struct ledger_container *row = container_at(ledger, container);

	row->waiting = false;
	ledger->waiting--;
	join_groups(ledger, row);
	touch(ledger, LEVEL_CONTAINER, container);
}

static void end_long_waits(struct ledger *ledger)
{
	uint32_t slots = ledger->level[LEVEL_CONTAINER].count;

	for (uint32_t i = 0; i < slots && ledger->waiting > 0; i++) {
		const struct ledger_container *row = container_at(ledger, i);

		if (row->row.used && row->waiting &&
		    ledger->now_ns - row->made_ns >= LEDGER_WAIT_NS)
			end_wait(ledger, i);
	}
}

/* For a row that has no series yet, or keeps the labels of its series. */
static void rename_row(struct ledger *ledger, uint32_t container, const struct ledger_owner *owner)
{
	struct ledger_container *row = container_at(ledger, container);
	const struct owner_names *before = row->names;

	row->names = owner_names_ref(owner->names);
	owner_names_unref(before);
	row->size_millicpu = owner->size_millicpu;
	row->has_pod_names = owner->has_pod_names;
	if (row->waiting && !owner->waiting)
		end_wait(ledger, container);
	else
		join_groups(ledger, row);
	touch(ledger, LEVEL_CONTAINER, container);
}

static void revive_row(struct ledger *ledger, uint32_t container)
{
	container_at(ledger, container)->replaced = false;
	ledger->replaced--;
}

/* The row that continues @owner: the series of @container has other labels and ends. */
static uint32_t replace_row(struct ledger *ledger, uint32_t container,
			    const struct ledger_owner *owner)
{
	uint32_t next = find_replaced(ledger, owner);

	if (next != LEDGER_NONE) {
		revive_row(ledger, next);
		rename_row(ledger, next, owner);
	} else if (ledger->replaced < ledger->max_rows[LEVEL_CONTAINER]) {
		next = add_container(ledger, owner, false);
	}
	if (next == LEDGER_NONE)
		return container; /* it keeps its old names, and is tried again */
	container_at(ledger, container)->replaced = true;
	ledger->replaced++;
	return next;
}

/* A new row, or the latest row that is kept from the owner's earlier life. */
static uint32_t begin_row(struct ledger *ledger, const struct ledger_owner *owner)
{
	uint32_t kept = find_replaced(ledger, owner);

	if (kept == LEDGER_NONE)
		return add_container(ledger, owner, false);
	revive_row(ledger, kept);
	if (!owner->waiting)
		rename_row(ledger, kept, owner);
	return kept;
}

static uint32_t follow_names(struct ledger *ledger, uint32_t container,
			     const struct ledger_owner *owner)
{
	const struct ledger_container *row = container_at(ledger, container);

	if (owner->waiting && (!row->waiting || (row->has_pod_names && !owner->has_pod_names)))
		return container; /* it keeps its names until better ones arrive */
	if (container != 0 && !row->waiting &&
	    !owner_names_agree(row->names, owner->names, LABELS_CONTAINER))
		return replace_row(ledger, container, owner);
	rename_row(ledger, container, owner);
	return container;
}

/* Does @owner have final names, or final names of the pod, that the waiting @row lacks? */
static bool is_better_known(const struct ledger_container *row, const struct ledger_owner *owner)
{
	return !owner->waiting || (owner->has_pod_names && !row->has_pod_names);
}

static void follow_bearer(struct ledger_container *row, uint64_t bearer_ns)
{
	if (!bearer_ns || row->bearer_ns == bearer_ns)
		return;
	if (row->bearer_ns && !row->inherited_ns)
		row->inherited_ns = row->last_active_ns;
	row->bearer_ns = bearer_ns;
}

uint32_t ledger_container(struct ledger *ledger, const struct ledger_owner *owner)
{
	uint32_t container;

	if (!owner->names->text[LABEL_CONTAINER_ID][0])
		return 0;
	container = find_container(ledger, owner->names, LABEL_BIT(LABEL_CONTAINER_ID), false);
	if (container != LEDGER_NONE) {
		struct ledger_container *row = container_at(ledger, container);

		follow_bearer(row, owner->bearer_ns);
		if (row->names != owner->names || row->is_misplaced ||
		    (row->waiting && is_better_known(row, owner)))
			return follow_names(ledger, container, owner);
		row->size_millicpu = owner->size_millicpu; /* a pod may be resized in place */
		return container;
	}
	if (has_room(ledger, LEVEL_CONTAINER))
		container = begin_row(ledger, owner);
	if (container == LEDGER_NONE) {
		note_refusal(ledger, owner->names);
		return other_container(ledger, owner->names);
	}
	return container;
}

void ledger_set_there(struct ledger *ledger, uint32_t container, bool is_there)
{
	container_at(ledger, container)->is_there = is_there;
}

/*
 * Processes. All rows of one process (same pid and start) are in one chain of the index: at most
 * one lives, the others ended when its labels changed and are kept for the publisher. A chain is
 * short, because only changes of labels add to it.
 */

static struct map_key process_key(uint32_t pid, uint64_t start_ns)
{
	return (struct map_key){ .hi = pid, .lo = start_ns };
}

void ledger_prefetch_process(const struct ledger *ledger, uint32_t pid, uint64_t start_ns)
{
	row_index_prefetch(&ledger->level[LEVEL_PROCESS].index, process_key(pid, start_ns));
}

uint32_t ledger_find_process(const struct ledger *ledger, uint32_t pid, uint64_t start_ns)
{
	const struct row_index *index = &ledger->level[LEVEL_PROCESS].index;
	uint32_t process = row_index_first(index, process_key(pid, start_ns));

	while (process != LEDGER_NONE && process_at(ledger, process)->row.ended)
		process = row_index_next(index, process);
	return process;
}

static uint32_t find_labels(const struct ledger *ledger, struct map_key key, const char *comm,
			    uint32_t container)
{
	const struct row_index *index = &ledger->level[LEVEL_PROCESS].index;
	uint32_t process = row_index_first(index, key);

	for (; process != LEDGER_NONE; process = row_index_next(index, process)) {
		const struct ledger_process *row = process_at(ledger, process);

		if (row->container == container && strcmp(row->comm, comm) == 0)
			return process;
	}
	return LEDGER_NONE;
}

static uint32_t add_process(struct ledger *ledger, uint32_t pid, uint64_t start_ns,
			    const char *comm, uint32_t container)
{
	struct ledger_process *row;
	uint32_t process;

	if (!has_room(ledger, LEVEL_PROCESS)) {
		ledger->refused_processes++;
		return LEDGER_NONE;
	}
	process = level_table_add(&ledger->level[LEVEL_PROCESS], process_key(pid, start_ns));
	if (process == LEDGER_NONE)
		return LEDGER_NONE;
	row = process_at(ledger, process);
	row->pid = pid;
	row->start_ns = start_ns;
	row->container = container;
	memcpy(row->comm, comm, sizeof(row->comm));
	container_at(ledger, container)->row.members++;
	container_at(ledger, container)->living++;
	return process;
}

uint32_t ledger_process(struct ledger *ledger, uint32_t pid, uint64_t start_ns, const char *comm,
			uint32_t container)
{
	char clean[LEDGER_COMM_MAX] = "";
	uint32_t living, process;

	if (pid == 0)
		return LEDGER_NONE;
	living = ledger_find_process(ledger, pid, start_ns);
	if (living != LEDGER_NONE && process_at(ledger, living)->container == container &&
	    strncmp(process_at(ledger, living)->comm, comm, LEDGER_COMM_MAX) == 0)
		return living; /* as in nearly each interval; a clean name stays as it is */
	label_text(clean, sizeof(clean), comm);
	process = find_labels(ledger, process_key(pid, start_ns), clean, container);
	if (process != LEDGER_NONE && process == living)
		return process;
	if (living != LEDGER_NONE)
		ledger_end_process(ledger, living);
	if (process == LEDGER_NONE)
		process = add_process(ledger, pid, start_ns, clean, container);
	if (process == LEDGER_NONE) {
		ledger->overflows[LEVEL_PROCESS]++;
		return LEDGER_NONE;
	}
	if (process_at(ledger, process)->row.ended)
		container_at(ledger, container)->living++;
	process_at(ledger, process)->row.ended = false;
	touch(ledger, LEVEL_PROCESS, process);
	activate(ledger, container);
	return process;
}

void ledger_end_process(struct ledger *ledger, uint32_t process)
{
	struct ledger_process *row = process_at(ledger, process);

	if (row->row.ended)
		return;
	row->row.ended = true;
	if (--container_at(ledger, row->container)->living == 0)
		touch(ledger, LEVEL_CONTAINER, row->container); /* its cgroup is to be checked */
	touch(ledger, LEVEL_PROCESS, process);
}

/* The ledger's life, its columns, the charges, and the node's own lines. */

int ledger_new(const struct ledger_options *options, struct ledger **ret)
{
	static const struct owner_names system_processes = {
		.text = { [LABEL_CONTAINER_ID] = "system_processes",
			  [LABEL_CONTAINER_NAME] = "system_processes",
			  [LABEL_NAMESPACE] = "system",
			  [LABEL_POD_NAME] = "system_processes" },
	};
	static const size_t row_sizes[LEVEL_GROUPS] = { sizeof(struct ledger_process),
							sizeof(struct ledger_container) };
	struct ledger *ledger = calloc(1, sizeof(*ledger));
	struct ledger_owner overflow = { 0 };
	int r = 0;

	if (!ledger)
		return -ENOMEM;
	r = layout_init(&ledger->layout, options->by_zone);
	if (r == 0)
		r = ARRAY_RESIZE(ledger->sum, ledger->layout.columns);
	if (r == 0)
		ledger->sum[COLUMN_CPU] = (struct ledger_sum){ 0 };
	for (enum level level = LEVEL_PROCESS; level < LEVEL_COUNT; level++) {
		level_table_init(&ledger->level[level], level < LEVEL_GROUPS
								? row_sizes[level]
								: sizeof(struct ledger_group));
		ledger->max_rows[level] =
			level == LEVEL_PROCESS ? options->max_processes : options->max_containers;
	}
	ledger->max_containers = options->max_containers;
	ledger->names = names_table_get(options->names);
	if (!ledger->names)
		r = -ENOMEM;
	for (enum level level = LEVEL_GROUPS; r == 0 && level < LEVEL_COUNT; level++)
		r = add_other_group(ledger, level);
	if (r == 0)
		overflow.names = owner_names_intern(ledger->names, &system_processes);
	if (r == 0 && (!overflow.names || add_container(ledger, &overflow, false) == LEDGER_NONE))
		r = -ENOMEM;
	owner_names_unref(overflow.names);
	if (r < 0) {
		ledger_free(ledger);
		return r;
	}
	*ret = ledger;
	return 0;
}

void ledger_free(struct ledger *ledger)
{
	if (!ledger)
		return;
	for (uint32_t i = 0; i < ledger->level[LEVEL_CONTAINER].count; i++)
		owner_names_unref(container_at(ledger, i)->names);
	for (enum level level = LEVEL_GROUPS; level < LEVEL_COUNT; level++) {
		for (uint32_t i = 0; i < ledger->level[level].count; i++) {
			owner_names_unref(group_at(ledger, level, i)->names);
			owner_names_unref(group_at(ledger, level, i)->facts);
		}
	}
	for (size_t level = 0; level < LEVEL_COUNT; level++)
		level_table_release(&ledger->level[level]);
	names_table_put(ledger->names);
	layout_release(&ledger->layout);
	free(ledger->zone);
	free(ledger->sum);
	free(ledger);
}

/* The layout follows afterwards, which cannot fail. */
static int widen_rows(struct ledger *ledger, uint32_t columns)
{
	struct value_table_use uses[2 * LEVEL_COUNT];
	uint32_t known = ledger->layout.columns;

	if (layout_reserve(&ledger->layout, columns) < 0 || ARRAY_RESIZE(ledger->sum, columns) < 0)
		return -ENOMEM;
	if (columns == known)
		return 0;
	memset(ledger->sum + known, 0, (columns - known) * sizeof(*ledger->sum));
	for (size_t level = 0; level < LEVEL_COUNT; level++) {
		struct level_table *table = &ledger->level[level];

		uses[2 * level] = (struct value_table_use){ &table->values, table->count };
		uses[2 * level + 1] =
			(struct value_table_use){ &table->deltas, table->touched_count };
	}
	return value_tables_widen(uses, ARRAY_SIZE(uses), columns);
}

int ledger_add_zone(struct ledger *ledger, const struct zone *zone)
{
	uint32_t count = ledger->layout.zone_count;
	int r = ARRAY_RESIZE(ledger->zone, count + 1U);

	if (r == 0)
		r = widen_rows(ledger, layout_columns_with(&ledger->layout, zone));
	if (r < 0)
		return r;
	layout_add_zone(&ledger->layout, zone);
	ledger->zone[count] = (struct ledger_zone){ 0 };
	return 0;
}

void ledger_end_zone(struct ledger *ledger, uint32_t zone)
{
	layout_end_zone(&ledger->layout, zone);
}

void ledger_revive_zone(struct ledger *ledger, uint32_t zone)
{
	layout_revive_zone(&ledger->layout, zone);
}

int ledger_bear_idle(struct ledger *ledger)
{
	int r = widen_rows(ledger, layout_columns_with_idle(&ledger->layout));

	if (r == 0)
		layout_bear_idle(&ledger->layout);
	return r;
}

int ledger_count(struct ledger *ledger, const struct quantity *const *quantities, uint32_t count,
		 uint64_t born_ns)
{
	int r = widen_rows(ledger, ledger->layout.columns + count);

	for (uint32_t i = 0; r == 0 && i < count; i++) {
		ledger->sum[ledger->layout.columns].born_ns = born_ns;
		layout_count(&ledger->layout, quantities[i]);
	}
	return r;
}

bool ledger_counts(struct ledger *ledger, uint32_t column, uint64_t now_ns, uint64_t settle_ns)
{
	struct ledger_sum *sum = &ledger->sum[column];

	if (now_ns > sum->born_ns && now_ns - sum->born_ns >= settle_ns)
		sum->born_ns = 0;
	return !sum->born_ns;
}

void ledger_begin(struct ledger *ledger, uint64_t now_ns)
{
	ledger_close(ledger);
	ledger->closed = false;
	ledger->now_ns = now_ns;
	for (size_t level = 0; level < LEVEL_COUNT; level++)
		level_table_begin(&ledger->level[level]);
	ledger->refused_processes = 0;
	ledger->refused_count = 0;
	for (uint32_t z = 0; z < ledger->layout.zone_count; z++) {
		struct ledger_zone *zone = &ledger->zone[z];

		memset(zone->node_delta_uj, 0, sizeof(zone->node_delta_uj));
		memset(zone->unattributed_delta_uj, 0, sizeof(zone->unattributed_delta_uj));
	}
}

void ledger_close(struct ledger *ledger)
{
	if (ledger->closed)
		return;
	ledger->closed = true;
	end_long_waits(ledger);
	book_to_groups(ledger);
}

void ledger_charge(struct ledger *ledger, uint32_t process, uint32_t column, uint64_t amount)
{
	uint32_t container = process_at(ledger, process)->container;

	level_table_charge(&ledger->level[LEVEL_PROCESS], process, column, amount);
	ledger_charge_container(ledger, container, column, amount);
}

void ledger_charge_container(struct ledger *ledger, uint32_t container, uint32_t column,
			     uint64_t amount)
{
	level_table_charge(&ledger->level[LEVEL_CONTAINER], container, column, amount);
	container_at(ledger, container)->last_active_ns = ledger->now_ns;
}

void ledger_node(struct ledger *ledger, uint32_t zone, enum energy_mode mode, uint64_t amount_uj)
{
	ledger->zone[zone].node_uj[mode] += amount_uj;
	ledger->zone[zone].node_delta_uj[mode] += amount_uj;
}

void ledger_unattributed(struct ledger *ledger, uint32_t zone, enum energy_mode mode,
			 enum unattributed_reason reason, uint64_t amount_uj)
{
	ledger->zone[zone].unattributed_uj[mode][reason] += amount_uj;
	ledger->zone[zone].unattributed_delta_uj[mode] += amount_uj;
}

void ledger_node_sum(struct ledger *ledger, uint32_t column, uint64_t amount, uint64_t unattributed)
{
	ledger->sum[column].node += amount;
	ledger->sum[column].unattributed += unattributed;
}

static void release_process(struct ledger *ledger, uint32_t process)
{
	const struct ledger_process *row = process_at(ledger, process);

	ledger_end_process(ledger, process); /* for one that lives, to keep the counts right */
	container_at(ledger, row->container)->row.members--;
	level_table_remove(&ledger->level[LEVEL_PROCESS], process,
			   process_key(row->pid, row->start_ns));
}

static void release_container(struct ledger *ledger, uint32_t container)
{
	struct ledger_container *row = container_at(ledger, container);

	level_table_remove(&ledger->level[LEVEL_CONTAINER], container, container_key(row));
	for (enum level level = LEVEL_GROUPS; level < LEVEL_COUNT; level++)
		move_to_group(ledger, row, level, LEDGER_NONE);
	owner_names_unref(TAKE_PTR(row->names));
	ledger->others -= row->is_other;
	ledger->replaced -= row->replaced;
	ledger->waiting -= row->waiting;
}

static void release_group(struct ledger *ledger, enum level level, uint32_t row)
{
	struct ledger_group *group = group_at(ledger, level, row);

	level_table_remove(&ledger->level[level], row, group_key(group->names));
	owner_names_unref(TAKE_PTR(group->names));
	owner_names_unref(TAKE_PTR(group->facts));
}

static bool has_members(const struct ledger *ledger, enum level level, uint32_t row)
{
	const struct level_row *at = level_table_at(&ledger->level[level], row);

	return at->members > 0;
}

void ledger_release(struct ledger *ledger, enum level level, uint32_t row)
{
	if (level == LEVEL_PROCESS)
		release_process(ledger, row);
	else if (row == OTHER || has_members(ledger, level, row))
		return;
	else if (level == LEVEL_CONTAINER)
		release_container(ledger, row);
	else
		release_group(ledger, level, row);
}

/* Reading. */

struct names_table *ledger_names(const struct ledger *ledger)
{
	return ledger->names;
}

const struct layout *ledger_layout(const struct ledger *ledger)
{
	return &ledger->layout;
}

const struct level_table *ledger_level(const struct ledger *ledger, enum level level)
{
	return &ledger->level[level];
}

uint32_t ledger_waiting(const struct ledger *ledger)
{
	return ledger->waiting;
}

uint32_t ledger_refused(const struct ledger *ledger, enum level level)
{
	return level == LEVEL_PROCESS ? ledger->refused_processes : ledger->refused_count;
}

void ledger_limit_containers(struct ledger *ledger, uint32_t rows)
{
	uint32_t most = ledger->max_containers;

	ledger->max_rows[LEVEL_CONTAINER] = rows < most ? rows : most;
}

/* Rows that exist regardless of the limit do not count. */
uint32_t ledger_limited_rows(const struct ledger *ledger, enum level level)
{
	uint32_t used = ledger->level[level].used;

	if (level == LEVEL_PROCESS)
		return used;
	return level == LEVEL_CONTAINER ? used - ledger->others - ledger->replaced : used - 1;
}

uint64_t ledger_overflows(const struct ledger *ledger, enum level level)
{
	return ledger->overflows[level];
}

bool ledger_is_crowded(const struct ledger *ledger, enum level level)
{
	uint32_t limit = ledger->max_rows[level];

	return ledger_limited_rows(ledger, level) >= limit - limit / 8;
}

uint64_t ledger_node_value(const struct ledger *ledger, uint32_t zone, enum energy_mode mode)
{
	return ledger->zone[zone].node_uj[mode];
}

uint64_t ledger_node_delta(const struct ledger *ledger, uint32_t zone, enum energy_mode mode)
{
	return ledger->zone[zone].node_delta_uj[mode];
}

uint64_t ledger_unattributed_delta(const struct ledger *ledger, uint32_t zone,
				   enum energy_mode mode)
{
	return ledger->zone[zone].unattributed_delta_uj[mode];
}

uint64_t ledger_unattributed_value(const struct ledger *ledger, uint32_t zone,
				   enum energy_mode mode, enum unattributed_reason reason)
{
	return ledger->zone[zone].unattributed_uj[mode][reason];
}

const struct ledger_sum *ledger_sum(const struct ledger *ledger, uint32_t column)
{
	return &ledger->sum[column];
}
