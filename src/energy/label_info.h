/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The labels that an owner of energy can have: one row of a table each, by which metrics, pages,
 * recordings and their masking follow. A new label is an enumerator here and a row in the .c file.
 * workload/identity.h explains their meaning.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Recordings and sets of names keep this order. */
enum label_key {
	LABEL_CONTAINER_ID, /* the owner's key */
	LABEL_CONTAINER_NAME,
	LABEL_RUNTIME,
	LABEL_NAMESPACE,
	LABEL_POD_NAME,
	LABEL_POD_ID,
	LABEL_WORKLOAD,
	LABEL_WORKLOAD_TYPE,
	LABEL_QOS_CLASS,
	LABEL_VM_ID,
	LABEL_VM_NAME,
	LABEL_HYPERVISOR,
	LABEL_KEY_COUNT
};

enum label_group {
	LABELS_OF_OWNER,
	LABELS_OF_POD, /* they name the pod's series, together with its extra labels */
	/* Facts of the pod, which name no series: they may come late, and change. */
	LABELS_OF_POD_FACTS,
	LABELS_OF_VM,
	LABEL_GROUP_COUNT
};

struct label_info {
	const char *name; /* in metrics and recordings */
	const char *page; /* on pages, where it is another one; else NULL */
	enum label_group group;
	bool is_said;  /* sources of names report it; false: it follows from the cgroup */
	bool is_id;    /* two of them stay distinct, even if they have to be cut */
	bool is_class; /* of a few words that are no secret: masked recordings keep it */
};

extern const struct label_info label_info[LABEL_KEY_COUNT];

/* Sets of keys. */
#define LABEL_BIT(key) (1U << (unsigned)(key))
#define LABELS_EXTRA   LABEL_BIT(LABEL_KEY_COUNT) /* pairs beyond the keys: owner_names.h */
/* The labels that distinguish the series of containers. */
#define LABELS_CONTAINER                                                                           \
	(LABEL_BIT(LABEL_CONTAINER_ID) | LABEL_BIT(LABEL_CONTAINER_NAME) |                         \
	 LABEL_BIT(LABEL_NAMESPACE) | LABEL_BIT(LABEL_POD_NAME))

/* The keys of a group; of a pod, with LABELS_EXTRA. */
uint32_t label_group_keys(enum label_group group);
/* All keys that sources of names report, with LABELS_EXTRA. */
uint32_t labels_said(void);
