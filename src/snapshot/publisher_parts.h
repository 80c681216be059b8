/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the publisher, shared by publisher.c (one interval, in order), publisher_processes.c
 * (own series of processes), publisher_folding.c (the limits of rows), publisher_containers.c
 * (containers, their "other" and retired rows), publisher_groups.c (pods, VMs, namespaces),
 * publisher_namespaces.c (retired rows of namespaces) and snapshot_build.c (the picture). Nothing
 * else includes it.
 *
 * Where a joule is: what a process used since it has a series is in its series, or, once that is
 * closed, in the retired row of its container; `elsewhere` is the sum of both for each container.
 * "Other" is no account of its own but the rest, container − elsewhere. So nothing can be lost or
 * counted twice, whatever the history, and an interval that could not be published for lack of
 * memory is made up for by the next.
 */
#pragma once

#include "attribution/row_index.h"
#include "attribution/value_table.h"
#include "snapshot/publisher.h"
#include "snapshot/snapshot_holder.h"

#define NO_SERIES UINT32_MAX

struct moment {
	uint64_t now_ns;
	int64_t realtime_ms;
	bool first; /* nothing was published before */
};

/* What settling and keeping need to know of any series. */
struct series_age {
	int64_t created_ms;
	uint64_t since_ns; /* when it was born or, once settled, when it settled */
	bool settled;
};

struct process_series {
	struct series_labels *labels;
	struct series_age age;
	uint64_t ended_ns; /* when its value changed last; with ended */
	uint32_t process;  /* row of the ledger */
	bool ended;        /* as of the last interval in which it was touched */
};

/* All own series, packed; a closed one is replaced by the last. */
struct process_view {
	struct process_series *series; /* [capacity] */
	uint32_t count;
	uint32_t capacity;
	struct value_table values; /* [count]: used since the series was opened */
	uint32_t *series_of;       /* [slots] by ledger row, or NO_SERIES */
	uint64_t *baseline_uj;     /* [slots]: usage at which a folded process starts over */
	uint32_t slots;
	struct row_index by_pid; /* ledger rows that have a series */
	uint64_t folded;
	struct contender *contenders; /* scratch of an interval */
	uint32_t contender_size;
	struct contender *smallest; /* likewise */
	uint32_t smallest_size;
};

/* A process and what it used: one that asks for a series, or one that may lose it. */
struct contender {
	uint64_t used_uj;
	uint32_t process;
};

struct container_series {
	bool published;
	bool has_retired;
	bool folding; /* scratch: goes in this interval */
	struct series_labels *labels;
	struct series_labels *other_labels;
	struct series_labels *retired_labels;
	struct series_age age; /* of the container's series and of "other" */
	int64_t retired_created_ms;
	uint32_t ns;  /* its namespace */
	uint32_t row; /* scratch: its place among this snapshot's containers */
};

/*
 * Namespaces are few and never forgotten: their retired rows are counters, too. At levels VM and
 * namespace only that of namespace 0 is used.
 */
struct namespace_series {
	struct series_labels *labels[LEVEL_COUNT];
	bool has_retired[LEVEL_COUNT];
	int64_t created_ms[LEVEL_COUNT];
};

#define NAMESPACES_MAX 1024U /* beyond it, containers retire to the namespace "", number 0 */

struct container_view {
	struct container_series *series; /* [slots] by ledger row */
	uint32_t slots;
	uint32_t published;
	struct value_table elsewhere; /* [slots] */
	struct value_table retired;   /* [slots]: of processes */
	uint64_t folded;
};

struct namespace_view {
	struct namespace_series *series; /* [count] */
	uint32_t count;
	struct value_table retired[LEVEL_COUNT]; /* [count] */
};

/* A pod, VM or namespace: its value is the ledger's. */
struct group_series {
	bool published;
	struct series_labels *labels;
	struct series_age age;
	uint32_t ns; /* whose retired row takes it */
};

struct group_view {
	struct group_series *series; /* [slots] by ledger row */
	uint32_t slots;
	uint32_t published;
	uint64_t folded;
};

struct publisher {
	struct publisher_options options;
	struct ledger *ledger;
	struct snapshot_holder *holder;
	struct label_pool *labels;
	uint32_t columns;
	bool published;     /* at least once */
	bool missed;        /* an interval's touched rows were not looked at: look at all */
	uint64_t hidden_ns; /* since when no snapshot could be made; 0: there is one */
	struct process_view processes;
	struct container_view containers;
	struct group_view groups[LEVEL_COUNT];
	struct namespace_view namespaces;
};

/* Nothing lives in it, as far as is known: it may be only that all in it sleeps. */
static inline bool container_has_ended(const struct ledger_container *row)
{
	return row->living == 0 && !row->is_there;
}

static inline bool has_passed(uint64_t since_ns, uint64_t now_ns, uint64_t span_ns)
{
	return now_ns >= since_ns && now_ns - since_ns >= span_ns;
}

/* dynamic + idle of the largest zone: what admission and folding go by. */
uint64_t usage_uj(const struct publisher *publisher, const uint64_t *values);
/* A birth at this moment: settled if nothing was published before. */
struct series_age age_of_birth(const struct moment *at);
/* Lets a series settle whose time has come. */
void age_settle(struct series_age *age, const struct publisher *publisher, const struct moment *at);
/*
 * Was a series that nothing adds to any more, since @last_ns, shown for long enough? For keep_ns
 * after it ended and after it settled; where rows are @crowded for settle_ns, and then it is
 * counted in @early.
 */
bool was_kept(const struct publisher *publisher, uint64_t last_ns, const struct series_age *age,
	      const struct moment *at, bool crowded, uint64_t *early);
void drop_labels(struct publisher *publisher, struct series_labels *labels);

/* publisher_processes.c */
int processes_reserve(struct publisher *publisher);
void processes_release(struct process_view *view);
/* Retires the ended ones whose time is over. */
void processes_expire(struct publisher *publisher, const struct moment *at);
/* Opens series for those that have used enough. */
void processes_admit(struct publisher *publisher, const struct moment *at);
/* Books the interval to the open series and releases what ended without one. */
void processes_apply(struct publisher *publisher, const struct moment *at);
/*
 * Moves a series' value to its container's retired row; the ledger row of an ended process goes
 * with it.
 */
void process_close(struct publisher *publisher, uint32_t series, const struct moment *at);
/* Ends a process, closes the series that it may have, and lets its row of the ledger go. */
void process_release(struct publisher *publisher, uint32_t process, const struct moment *at);
/* A process without series must use min_uj from now on to get one. */
void processes_start_over(struct publisher *publisher);

/* publisher_folding.c */
/* Folds series until at most max_rows are open: settled ones first, the smallest first. */
void processes_fold_excess(struct publisher *publisher, const struct moment *at);
/*
 * The @wanted smallest settled series, ascending, in processes.smallest. Returns how many there
 * are, 0 without memory.
 */
uint32_t processes_find_smallest(struct publisher *publisher, uint32_t wanted, bool settled_only);
void process_fold(struct publisher *publisher, uint32_t process, const struct moment *at);
/*
 * Makes room for processes that found none: the smallest rows without a series that did not run in
 * this interval go. What they used is in "other", and stays there.
 */
void processes_forget(struct publisher *publisher, const struct moment *at);
/*
 * Makes room for owners that found none: the smallest containers that did not run in this interval
 * go, with their process rows.
 */
void containers_fold(struct publisher *publisher, const struct moment *at);

/* publisher_containers.c */
int containers_reserve(struct publisher *publisher);
void containers_release(struct container_view *view);
/* 0 or -ENOMEM: then some container has no series, and no snapshot can be made. */
int containers_admit(struct publisher *publisher, const struct moment *at);
void containers_expire(struct publisher *publisher, const struct moment *at);
/* Adds to the retired row of a container's processes. */
void container_retire_process(struct publisher *publisher, uint32_t container,
			      const uint64_t *values, const struct moment *at);
/* Moves all that is left of one without process rows to its namespace. */
void container_retire(struct publisher *publisher, uint32_t container, const struct moment *at);

/* publisher_groups.c */
int groups_reserve(struct publisher *publisher);
void groups_release(struct publisher *publisher);
/* 0 or -ENOMEM, as containers_admit(). */
int groups_admit(struct publisher *publisher, const struct moment *at);
void groups_expire(struct publisher *publisher, const struct moment *at);

/* publisher_namespaces.c */
int namespaces_init(struct publisher *publisher);
void namespaces_release(struct namespace_view *view);
/* The namespace of this name, made when new; 0 beyond NAMESPACES_MAX. 0 or -ENOMEM. */
int namespace_find(struct publisher *publisher, const char *name, uint32_t *ret);
/* Adds to a retired row of a namespace. */
void namespace_retire(struct publisher *publisher, uint32_t ns, enum level level,
		      const uint64_t *values, const struct moment *at);

/* snapshot_build.c */
/* Fills and publishes a snapshot. 0 or -ENOMEM. */
int snapshot_build(struct publisher *publisher, const struct moment *at,
		   const struct snapshot_zone *zones, const struct snapshot_self *self);
