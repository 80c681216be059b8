/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names that Kubernetes and the runtimes give to containers, by container id.
 *
 * Sources (src/kube/, src/runtimes/) write from their own threads; the loop looks up the containers
 * that it sees. A source that is configured and answers is "reachable": only then do unknown
 * containers wait for their names. An entry that a source withdraws is kept for DIRECTORY_KEEP_NS,
 * because the energy of a container that has ended can arrive after the report of its end. Bounded:
 * above max_containers the oldest withdrawn entries are removed, then new ones are refused and
 * counted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "energy/owner_names.h"

#define DIRECTORY_KEEP_NS (600 * 1000000000ULL)
#define DIRECTORY_WAIT_NS (60 * 1000000000ULL)

/*
 * A pod without any container id yet is entered like a container, with an id of this prefix and the
 * pod's uid. No container's id begins with it, and it is not counted as a container.
 */
#define DIRECTORY_POD_PREFIX "pod/"

/* By precedence: the first one hides the others. */
enum directory_source { DIRECTORY_KUBERNETES, DIRECTORY_RUNTIME, DIRECTORY_SOURCE_COUNT };

/*
 * The facts that a source has about a container. LABEL_CONTAINER_ID is its key, without
 * "containerd://"; the rest, and the pairs, "" when not known. Copied.
 */
struct container_names {
	struct owner_names names;
	uint32_t cpu_request_milli, cpu_limit_milli; /* 0 none */
};

/* The facts that are known about a container. */
struct directory_record {
	const struct owner_names *names; /* interned; NULL: nothing */
	uint32_t cpu_request_milli, cpu_limit_milli;
	/* The sources, of the container and of its pod. */
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
/* True if the source answers now. A source that is not configured never calls it. */
void directory_set_reachable(struct directory *directory, enum directory_source source, bool yes);
/* A descriptor that is readable once unknown ids were asked for (poll by demand); -1 on failure. */
int directory_wanted_fd(struct directory *directory, enum directory_source source);

/* ---- the loop ---- */

/* Changes whenever anything became different: a look-up is worth repeating. */
uint64_t directory_generation(const struct directory *directory);
bool directory_source_is_reachable(const struct directory *directory, enum directory_source source);
/*
 * Interns the names of @container_id in @table; the caller gets the reference. false: it is
 * unknown. A source that polls is notified that an id is wanted unless it, or one of higher
 * precedence, knows it.
 */
bool directory_find(struct directory *directory, const char *container_id,
		    struct names_table *table, struct directory_record *ret);
/* The same, without notifying a source. */
bool directory_peek(struct directory *directory, const char *container_id,
		    struct names_table *table, struct directory_record *ret);
/*
 * Any container of the pod, preferably one that Kubernetes knows: for its sandbox and other
 * processes in the pod, which the pod's status does not list. Its own container_id and
 * container_name are not to be used.
 */
bool directory_find_pod(struct directory *directory, const char *pod_id, struct names_table *table,
			struct directory_record *ret);

/* A container as Kubernetes names it. */
struct directory_name {
	const char *namespace_, *pod, *container;
};

/*
 * The ids of the containers of that name that Kubernetes has not withdrawn: of one that was started
 * again the last one before as well, and in no order. At most @max ids are written; one that is
 * longer than DIRECTORY_ID_MAX is left out. Looks through the whole directory; from any thread.
 */
#define DIRECTORY_ID_MAX 71
size_t directory_find_named(struct directory *directory, const struct directory_name *name,
			    char (*ret)[DIRECTORY_ID_MAX + 1], size_t max);

struct directory_stats {
	uint64_t containers[DIRECTORY_SOURCE_COUNT];
	uint64_t refused, found, not_found;
	bool configured[DIRECTORY_SOURCE_COUNT], reachable[DIRECTORY_SOURCE_COUNT];
};
void directory_get_stats(struct directory *directory, struct directory_stats *ret);
