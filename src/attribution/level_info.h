/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The levels of rows: processes, owners ("containers"), and groups of owners. Each group level is a
 * row of a table here, by which the ledger, snapshots, metrics, pages and replay follow.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/option_choice.h"
#include "energy/label_info.h"

/*
 * A process belongs to a container, and a container to at most one group of each level. The order
 * is that of pages; namespaces are last, because groups of other levels can retire to them.
 */
enum level { LEVEL_PROCESS, LEVEL_CONTAINER, LEVEL_POD, LEVEL_VM, LEVEL_NAMESPACE, LEVEL_COUNT };
#define LEVEL_BIT(level) (uint8_t)(1U << (unsigned)(level))
#define LEVEL_GROUPS     LEVEL_POD /* the first of them */
#define GROUP_LEVELS     (LEVEL_COUNT - LEVEL_GROUPS)

/* How texts call the rows of a level. */
struct level_words {
	const char *plural; /* "pods" */
	const char *one;    /* "virtual machine" */
	const char
		*charged; /* what a row is charged: "the pod's containers, ended ones included" */
	const char *work; /* what uses CPU time: "the container's processes" */
	const char
		*retired; /* the rows that one retired row stands for: "pods of this namespace" */
};

struct level_info {
	const char *name; /* "pod": of metrics and questions */
	struct level_words words;
	bool has_work; /* pages have its CPU time and counters, and power by zone */
	/* For groups only: */
	enum label_key id;       /* by which a group is known */
	enum label_key called;   /* its name for people */
	enum label_group named;  /* labels that name it; LABEL_GROUP_COUNT: the id alone */
	enum label_group facts;  /* labels that it has, too; LABEL_GROUP_COUNT: none */
	bool takes_all;          /* owners without the id are in a group as well */
	bool awaits_owner_names; /* the names of its pod are not enough to join it */
};

extern const struct level_info level_info[LEVEL_COUNT];
/* The names, as the choices of an option. */
extern const struct option_choice level_choices[LEVEL_COUNT + 1];

/* The labels that name a group of @level. */
uint32_t level_keys(enum level level);
