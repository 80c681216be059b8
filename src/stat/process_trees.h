/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The energy of trees of processes: of all that a root has started, directly or not, since its tree
 * began, without the root itself. `kepler stat` is the root of the tree of its command.
 *
 * A tree is a view of the ledger: it adds up what an interval has charged to the rows of its
 * processes, and changes no row. A process belongs to it if its parent is the root or belongs to
 * it, as the kernel has it at the process's end or, while it lives, at each pass. A root that is a
 * subreaper (prctl(2)) becomes the parent of those that lose theirs, so that no daemon leaves
 * its tree. Trees may lie inside each other.
 *
 * A process may be reported before its parent, if both were short: what it was charged is held for
 * some seconds until the parent is known. Only processes that began after the oldest tree are
 * looked at. Pure: no I/O, no clock; one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution/ledger.h"

#define TREES_MAX         16
#define TREE_PROCESSES    65536 /* of all trees, and others of their time; more are counted */
#define TREE_COMMANDS_MAX 48    /* of each tree; further ones are in the last one, "other" */
#define TREE_NONE         UINT8_MAX
#define TREE_HELD_MAX     2048 /* ended processes that wait for energy; see process_trees_hold() */

/* As struct process_key (activity/activity_reader.h): the start is on CLOCK_BOOTTIME. */
struct tree_id {
	uint32_t pid; /* 0: not known */
	uint64_t start_ns;
};

/* A process that ran in the interval, or ended. */
struct tree_process {
	struct tree_id id, parent;
	const char *comm; /* LEDGER_COMM_MAX bytes at most, terminated */
	bool has_ended;
};

/* A tree's energy of one account (attribution/layout.h). */
struct tree_account {
	uint64_t energy_uj[MODE_COUNT];
	/* Idle energy of the node that no row was charged, in proportion to the tree's time. */
	uint64_t node_idle_uj;
	double error_uj;  /* of energy_uj, half-width of the 90 % interval as far as it is known */
	bool in_total;    /* the last interval that was booked has it so */
	bool is_lost;     /* some of it could not be waited for, and may be in the container */
	uint64_t read_ns; /* MONOTONIC: its energy is here up to then; 0: it has not been read */
};

struct tree_command {
	char comm[LEDGER_COMM_MAX]; /* untrusted bytes */
	uint64_t energy_uj;         /* of the accounts that are in the total */
	uint64_t cpu_ns;
	uint32_t processes; /* by the last name of each */
};

struct process_tree {
	bool is_used;
	struct tree_id root;
	uint64_t began_ns;             /* BOOTTIME */
	uint64_t booked_ns;            /* the end of the last interval, BOOTTIME; 0: none yet */
	struct tree_account *accounts; /* [account_count] */
	uint32_t account_count, account_room;
	struct tree_command commands[TREE_COMMANDS_MAX];
	uint32_t command_count;
	uint64_t cpu_ns;
	bool root_has_ended;
	uint32_t processes;       /* that have belonged to it */
	uint32_t short_processes; /* that began and ended between two passes */
	uint32_t missed;          /* that found no room, or whose parents were not found */
};

struct process_trees; /* its own */

/* An interval that has been booked. */
struct tree_interval {
	uint64_t now_ns;           /* its end, BOOTTIME */
	uint64_t time_ns;          /* the same, MONOTONIC */
	uint64_t elapsed_ns;       /* its length; 0: not known */
	const double *error_ratio; /* [accounts of the ledger]: of their energy; NULL: not known */
	const bool *in_total;      /* the same: they are in the total */
	const uint64_t *read_ns;   /* the same, MONOTONIC: up to when their meters were read */
};

int process_trees_new(struct process_trees **ret); /* 0 or -ENOMEM */
void process_trees_free(struct process_trees *trees);
/*
 * A tree of what @root starts from @now_ns (BOOTTIME) on: its number, or -ENOSPC. The start of the
 * root may be off by a clock tick, as /proc has it.
 */
int process_trees_begin(struct process_trees *trees, const struct tree_id *root, uint64_t now_ns);
void process_trees_end(struct process_trees *trees, uint32_t tree);
bool process_trees_any(const struct process_trees *trees);
/* Each process of an interval's pass, in any order. */
void process_trees_see(struct process_trees *trees, const struct tree_process *process,
		       uint64_t now_ns);
/* Adds the interval, before any of its rows is released. */
void process_trees_book(struct process_trees *trees, const struct ledger *ledger,
			const struct tree_interval *interval);
/*
 * To be asked about each process that has ended, after process_trees_book(). True: it may belong to
 * a tree, and a meter of the total was not read in this interval, or reports late. The caller keeps
 * the row of the process as one that lives, so that the energy that is still to come goes to it,
 * until process_trees_next_due() returns the process: true, once its time has been read, or after
 * some seconds.
 */
bool process_trees_hold(struct process_trees *trees, const struct tree_id *id);
bool process_trees_next_due(struct process_trees *trees, uint64_t time_ns, struct tree_id *ret);
/* NULL: there is none with this number. */
const struct process_tree *process_trees_at(const struct process_trees *trees, uint32_t tree);
/* The living processes of a tree: at most @max in @ret; returns how many there are. */
struct tree_left {
	uint32_t pid;
	char comm[LEDGER_COMM_MAX];
};
uint32_t process_trees_left(const struct process_trees *trees, uint32_t tree, struct tree_left *ret,
			    uint32_t max);
