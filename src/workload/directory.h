/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of containers by their id: the names that Kubernetes and the runtimes give them.
 *
 * Sources (src/kube/, src/runtimes/) write from their own threads; the loop looks up what it meets.
 * A source that is configured and answers is "reachable": only then do unknown containers wait for
 * their names. What a source takes back is kept for DIRECTORY_KEEP_NS, because the energy of a
 * container that has ended can arrive after the word of its end. Bounded: beyond max_containers
 * the oldest that were taken back go, then new ones are refused and counted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "energy/owner_names.h"

#define DIRECTORY_KEEP_NS (600 * 1000000000ULL)
#define DIRECTORY_WAIT_NS (60 * 1000000000ULL)

/*
 * A pod none of whose containers has an id yet is put as if it were a container whose id is this
 * and the pod's. No container's id begins like it, and none is counted for it.
 */
#define DIRECTORY_POD_PREFIX "pod/"

/* By precedence: what the first says hides the others. */
enum directory_source { DIRECTORY_KUBERNETES, DIRECTORY_RUNTIME, DIRECTORY_SOURCE_COUNT };

/*
 * What a source says of a container. LABEL_CONTAINER_ID is its key, without "containerd://"; the
 * rest, and the pairs, "" when not known. Copied.
 */
struct container_names {
	struct owner_names names;
	uint32_t cpu_request_milli, cpu_limit_milli; /* 0 none */
};

/* What is known of a container. */
struct directory_record {
	const struct owner_names *names; /* interned; NULL: nothing */
	uint32_t cpu_request_milli, cpu_limit_milli;
	/* Who says so, of the container and of its pod. */
	enum directory_source source, pod_source;
};

struct directory;

int directory_new(uint32_t max_containers, struct directory **ret);
void directory_free(struct directory *directory);

/* ---- sources, from any thread ---- */

/* New or changed; returns 0, -ENOSPC (counted) or -ENOMEM. */
int directory_put(struct directory *directory, enum directory_source source,
		  const struct container_names *names);
void directory_remove(struct directory *directory, enum directory_source source,
		      const char *container_id, uint64_t now_ns);
/* Whether the source answers now. A source that is not configured never calls it. */
void directory_set_reachable(struct directory *directory, enum directory_source source, bool yes);
/* A descriptor that is readable once unknown ids were asked for (poll by demand); -1 on failure. */
int directory_wanted_fd(struct directory *directory, enum directory_source source);

/* ---- the loop ---- */

/* Changes whenever anything became different: a look-up is worth repeating. */
uint64_t directory_generation(const struct directory *directory);
bool directory_source_is_reachable(const struct directory *directory, enum directory_source source);
/*
 * Interns what is known of @container_id in @table; the reference is the caller's. false: nothing
 * is known. A source that polls is told that an id is wanted unless it, or one that comes before
 * it, has said who that is.
 */
bool directory_find(struct directory *directory, const char *container_id,
		    struct names_table *table, struct directory_record *ret);
/* The same, but nothing is told of it. */
bool directory_peek(struct directory *directory, const char *container_id,
		    struct names_table *table, struct directory_record *ret);
/*
 * Any container of the pod, one that Kubernetes knows if there is one: for its sandbox and what
 * else runs in it, which the pod's status does not list. Its own container_id and
 * container_name are not to be used.
 */
bool directory_find_pod(struct directory *directory, const char *pod_id, struct names_table *table,
			struct directory_record *ret);

struct directory_stats {
	uint64_t containers[DIRECTORY_SOURCE_COUNT];
	uint64_t refused, found, not_found;
	bool configured[DIRECTORY_SOURCE_COUNT], reachable[DIRECTORY_SOURCE_COUNT];
};
void directory_get_stats(struct directory *directory, struct directory_stats *ret);
