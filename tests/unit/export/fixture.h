/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots made by hand, whose sums hold: node = rows + retired + pending + unattributed, at all
 * levels but those of pods and VMs, for each account and mode, and each counter. Everything is
 * owned by the fixture and borrowed from it.
 */
#pragma once

#include "attribution/layout.h"
#include "snapshot/snapshot.h"

struct fixture_names {
	char id[128];
	char name[128];
	struct owner_names text;
	struct owner_names facts;
};

/* A part of the program with a metric of each kind. */
struct fixture_health {
	double cpu_seconds;
	uint64_t open_fds;
	char reader[16];
	bool last_succeeded;
	uint32_t success, failure;
	struct health_histogram intervals;
	struct fixture_state {
		char name[16];
		double seconds;
	} states[3];
	uint32_t state_count;
};

struct fixture {
	struct snapshot snapshot;
	struct snapshot_zone *zones;
	struct layout layout;
	struct snapshot_account *accounts;
	struct snapshot_column *columns;
	struct fixture_names *names; /* of the containers, then one for each group */
	struct series_labels *labels[LEVEL_COUNT];
	struct series_labels *retired_labels[LEVEL_COUNT];
	struct power_picture power;
	struct power_row power_rows[3];
	struct fixture_health health;
	struct health_block block;
};

struct fixture_shape {
	uint32_t zones;      /* of the full list: package 0, package 1, dram 0, psys */
	uint32_t containers; /* living */
	uint32_t processes;  /* living, "other" rows included */
	bool idle_on_rows;
	bool by_zone;      /* rows tell the two packages apart */
	bool taken_over;   /* the first zone is an estimate that has ended since, not package 0 */
	uint32_t counters; /* that rows have, as SIGNAL_BIT() */
	bool groups;       /* two pods, two VMs; else there is a namespace alone */
};

/* A measured node with awkward names, 2 sockets, retired rows, idle on the node. */
void fixture_node(struct fixture *fixture);
/* A node that counts instructions, page cache hits and bytes of networks, too. */
void fixture_counters(struct fixture *fixture);
/* A virtual machine without a meter: one estimated platform zone, dynamic only. */
void fixture_vm(struct fixture *fixture);
/* No zone at all: CPU time only. */
void fixture_bare(struct fixture *fixture);
void fixture_make(struct fixture *fixture, const struct fixture_shape *shape);
/*
 * A node of 198 W: 92 W and 9 W of it are inside psys, two processes of 140 and 30 W in
 * "shop/checkout-7d9f", 1 W others, 26 W idle, 1 W unattributed. Without it no power is known.
 */
void fixture_power(struct fixture *fixture);
/* Makes accounts what zones say, after those were changed in all but their kinds. */
void fixture_follow_zones(struct fixture *fixture);
/* Makes the node's values what the sums say, after rows were changed. */
void fixture_balance(struct fixture *fixture);
void fixture_release(struct fixture *fixture);

/*
 * The result of snapshot_get() for any holder in programs that link with
 * --wrap=snapshot_get,--wrap=snapshot_put.
 */
void fixture_hold(const struct snapshot *snapshot); /* NULL: none yet */
unsigned fixture_references(void);                  /* given out, not yet back */
const struct snapshot *__wrap_snapshot_get(struct snapshot_holder *holder);
void __wrap_snapshot_put(struct snapshot_holder *holder, const struct snapshot *snapshot);
