/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pods that a source has reported, and the containers that they entered into the directory, so
 * that containers that are gone can be withdrawn and unchanged pods cost nothing.
 *
 * A complete list is bracketed by pod_table_begin() and pod_table_end(): a pod that was not put or
 * seen between them is gone. For a list that breaks off the end is not called. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "kube/pods/pod_digest.h"
#include "kube/pods/pod_json.h"

struct directory;
struct pod_addresses;

struct pod_table {
	struct directory *directory;     /* borrowed */
	struct pod_addresses *addresses; /* that pods are removed from; borrowed, or NULL */
	struct pod_digest_key key;
	struct pod_row *rows; /* packed */
	uint32_t count, size, limit;
	struct map by_uid, by_digest;
	uint64_t generation;
	uint64_t changes; /* pods that were put or removed */
};

void pod_table_init(struct pod_table *table, struct directory *directory,
		    const struct pod_digest_key *key, uint32_t max_pods);
/* The directory keeps its entries. */
void pod_table_release(struct pod_table *table);

void pod_table_begin(struct pod_table *table);
void pod_table_end(struct pod_table *table, uint64_t now_ns);
/* True if a pod of exactly this text is known; it then counts as seen. */
bool pod_table_seen(struct pod_table *table, const char *text, size_t len);
/*
 * New or changed; @text as above, or NULL. Containers that the pod no longer has are withdrawn. 0;
 * -ENOSPC: too many pods or, for some container, no room in the directory;
 * -ENOMEM. After a failure the pod counts as changed.
 */
int pod_table_put(struct pod_table *table, const struct pod *pod, const char *text, size_t len,
		  uint64_t now_ns);
void pod_table_remove(struct pod_table *table, const char *uid, uint64_t now_ns);
