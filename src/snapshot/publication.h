/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The published part of the ledger: the series of all levels, the "other" of each container, and
 * the retired rows. This file moves values from one to another; the publisher's rules decide when.
 *
 * Where a joule is: the use of a process since its series was opened is in that series or, once the
 * series is closed, in the retired row of its container; `elsewhere` is the sum of both for each
 * container. "Other" is not an account of its own but the rest, container − elsewhere. So nothing
 * can be lost or counted twice, whatever the history, and the next interval makes up for one that
 * could not be published for lack of memory.
 *
 * When a container goes, the values left in it move to two retired rows of its namespace. The value
 * of a pod moves to its namespace's retired row, too, and the value of a VM or namespace to that
 * row of namespace 0. There are few namespaces, and none is ever forgotten, because their retired
 * rows are counters. Namespace 0 has no name; it also takes in what found no room.
 *
 * All that a container, pod or VM will ever need is allocated when its series is opened, so that
 * closing it cannot fail.
 */
#pragma once

#include "attribution/ledger.h"
#include "attribution/unit_accounts.h"
#include "snapshot/retired.h"
#include "snapshot/series.h"
#include "snapshot/snapshot_holder.h"

#define ROWS_OF_CONTAINER 3U    /* its own, "other", its retired processes */
#define ROWS_OF_NAMESPACE 3U    /* retired processes, containers, pods */
#define ROWS_OF_ALL       2U    /* retired VMs, retired namespaces */
#define NAMESPACES_MAX    1024U /* beyond it, containers retire to the namespace "", number 0 */

struct publication {
	struct publisher_options options;
	struct ledger *ledger;
	struct snapshot_holder *holder;
	struct label_pool *labels;
	uint32_t columns;
	struct series_table series[LEVEL_COUNT];
	/* By the container's row of the ledger: */
	struct value_table elsewhere;
	struct series_labels **other_labels;
	struct retired_table retired_processes;
	uint32_t container_slots;
	/* By number of the namespace: */
	struct retired_table retired[LEVEL_COUNT];
	uint32_t namespaces;
	const struct health_source *health; /* [health_count], borrowed */
	size_t health_count;
	const struct unit_accounts *units; /* borrowed; NULL: no unit of work is counted */
	struct power_picture power;
	struct power_scratch power_scratch;
};

/* 0 or -ENOMEM; to be released in either case. */
int publication_init(struct publication *publication, const struct publisher_options *options,
		     struct ledger *ledger, struct snapshot_holder *holder);
void publication_release(struct publication *publication);
/* Follows the ledger's zones and rows. 0, or -ENOMEM: then nothing else may be called. */
int publication_reserve(struct publication *publication);

/* A series for a row without one; a process' container has one. NULL without memory. */
struct series *publication_open(struct publication *publication, enum level level, uint32_t row,
				const struct moment *at);
/*
 * Moves what series number @index shows to its retired row. A container has no processes any more.
 * The row of the ledger stays.
 */
void publication_close(struct publication *publication, enum level level, uint32_t index,
		       const struct moment *at);
/* Adds what a process that has a series used in this interval. */
void publication_book(struct publication *publication, uint32_t process);
/* Facts may come late, or change: what is known now has other labels. */
void publication_follow_facts(struct publication *publication, struct series *series,
			      const struct ledger_group *row);
/*
 * Returns true if a row ran in this interval. Idle energy does not count, because sleepers may get
 * it as well.
 */
bool publication_has_run(const struct publication *publication, enum level level, uint32_t row);
/*
 * How many rows a snapshot may come to have, whatever moves in it, but for own series of processes:
 * three of each container (its own, "other", retired processes), one of each pod, VM and namespace,
 * and the retired ones of each namespace that was ever seen. Containers that wait count, too.
 */
uint32_t publication_owner_rows(const struct publication *publication);
/* Most of the level's rows of the ledger, or of max_rows, are taken: what has ended goes early. */
bool publication_is_crowded(const struct publication *publication, enum level level);
/* dynamic + idle of the largest zone that counts: what admission and merging go by. */
uint64_t publication_usage_uj(const struct publication *publication, const uint64_t *values);
