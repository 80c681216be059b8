/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The view of a client of one snapshot, in plain values: the simulation's own words for it. A line
 * of values begins with CPU time (ns) and counters of work, 0 if they do not exist; then each
 * account's dynamic and idle energy (µJ), for one zone or for all zones of a type.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "world.h"

enum picture_level {
	PICTURE_PROCESS,
	PICTURE_CONTAINER,
	PICTURE_POD,
	PICTURE_VM,
	PICTURE_NAMESPACE,
	PICTURE_LEVELS
};

enum picture_mode { PICTURE_DYNAMIC, PICTURE_IDLE, PICTURE_MODES };
enum picture_reason {
	REASON_POLICY,
	REASON_NO_ACTIVITY,
	REASON_DROPPED,
	REASON_UNSEEN,
	PICTURE_REASONS
};

#define PICTURE_NO_ENERGY   (1 + WORLD_COUNTERS) /* columns before those of energy */
#define PICTURE_COLUMNS_MAX (PICTURE_NO_ENERGY + PICTURE_MODES * WORLD_ZONES_MAX)
static inline size_t picture_counter(size_t counter)
{
	return 1 + counter;
}
static inline size_t picture_column(size_t account, enum picture_mode mode)
{
	return PICTURE_NO_ENERGY + account * PICTURE_MODES + mode;
}

struct picture_row {
	uint64_t key;          /* of its labels, its level, and whether it is retired */
	uint64_t container;    /* of a process: the key that its container has */
	uint64_t id;           /* picture_key() of the container's id */
	uint64_t slot, serial; /* what an exporter keeps texts by; a serial is never given twice */
	const char *text;      /* labels, to be read */
	uint64_t process;      /* key of its pid, command and @id */
	uint32_t pid;
	bool other; /* of a container's processes without a series */
	bool retired, ended;
	bool has_pod;
	int64_t created_ms;
	uint64_t *values, *deltas; /* [columns]; deltas NULL with retired */
};

struct picture_table {
	size_t count, retired_count;
	struct picture_row *rows; /* [count + retired_count] */
	uint64_t pending[PICTURE_COLUMNS_MAX];
	uint64_t merged;
};

struct picture_zone {
	uint64_t total; /* which one it is in; 0: none */
	bool up, has_mode[PICTURE_MODES], rows_have_mode[PICTURE_MODES];
	bool watts_known[PICTURE_MODES];
	uint64_t node_uj[PICTURE_MODES];
	uint64_t unattributed_uj[PICTURE_MODES][PICTURE_REASONS];
	int64_t created_ms;
};

struct picture_counter {
	bool is_there;
	uint64_t node, unattributed;
};

struct picture {
	uint64_t sequence, now_ns;
	size_t zone_count, account_count, columns;
	struct picture_zone zones[WORLD_ZONES_MAX];
	struct picture_counter counters[WORLD_COUNTERS];
	struct picture_table level[PICTURE_LEVELS];
	uint64_t cpu_ns;
	uint64_t process_overflows, container_overflows;
	char *memory; /* of all that it points to */
	size_t size, used;
};

/* Labels as a key, the same of equal labels: FNV-1a over texts and their ends. */
uint64_t picture_key(const char *const *texts, size_t count);
uint64_t picture_container_key(const char *id, const char *name, const char *ns, const char *pod);
uint64_t picture_process_key(uint32_t pid, const char *command, uint64_t container);
uint64_t picture_checksum(const struct picture *picture);
void picture_release(struct picture *picture);
