/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The content of a recording, as values: docs/record-format.md has the same as bytes. It has all
 * inputs of the attribution of energy, so an interval can be booked again.
 *
 * Ids of owners and processes are the writer's; a later definition of an id replaces the earlier
 * one. Pointers are borrowed: in encoding, for the call; in decoding, until the next record is
 * read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "energy/owner_names.h"
#include "energy/signal.h"
#include "energy/span.h"
#include "energy/work.h"
#include "energy/zone_progress.h"

#define RECORD_MAGIC       "KEPLREC\n"
#define RECORD_MAJOR       1
#define RECORD_MINOR       1
#define RECORD_IDS_MAX     (1U << 22)
#define RECORD_ENTRIES_MAX 262144 /* of each list of an interval */
#define RECORD_TEXT_MAX    4096
#define RECORD_BLOCK_MAX   (32U << 20)
#define RECORD_COMM_MAX    16
#define RECORD_SOURCE_MAX  64
#define RECORD_PLACES_MAX  PLACES_MAX

enum record_type {
	RECORD_FACT = 1,
	RECORD_OPTION,
	RECORD_ZONE,
	RECORD_IDLE,
	RECORD_OWNER,
	RECORD_PROCESS,
	RECORD_INTERVAL,
	RECORD_END,
	RECORD_STATE,
};

/* RECORD_FACT and RECORD_OPTION. */
struct recorded_pair {
	const char *name;
	const char *value;
};

struct recorded_zone {
	uint32_t index;
	struct zone zone; /* its source is @source once it was decoded */
	char source[RECORD_SOURCE_MAX];
	int64_t found_ms; /* time of day */
};

struct recorded_idle {
	uint32_t zone;
	const char *line; /* idle_learner_format() (attribution) */
};

struct recorded_owner {
	uint32_t id;
	bool waiting, has_pod_names; /* workload/identity.h */
	bool is_other;               /* stands for the owners beyond the limit of a namespace */
	uint32_t size_millicpu;
	struct owner_names names; /* not interned */
};

struct recorded_process {
	uint32_t id;
	uint32_t pid;
	uint64_t start_ns; /* BOOTTIME */
	uint32_t owner;
	char comm[RECORD_COMM_MAX];
};

/* The progress of a zone that had begun before the recording did. */
struct recorded_state {
	uint32_t zone;
	struct zone_progress progress;
};

/* The reading of a zone in an interval. */
struct recorded_reading {
	enum zone_state state;
	int error;
	bool has_span;
	struct energy_span span; /* its zone is set, too */
};

/* A process or an owner, as one number. */
static inline uint32_t recorded_party_process(uint32_t id)
{
	return id * 2;
}
static inline uint32_t recorded_party_owner(uint32_t id)
{
	return id * 2 + 1;
}
static inline bool recorded_party_is_process(uint32_t party)
{
	return party % 2 == 0;
}
static inline uint32_t recorded_party_id(uint32_t party)
{
	return party / 2;
}

struct recorded_use {
	uint32_t device, party;
	uint64_t busy_ns;
	uint32_t held;
};

struct recorded_nameless {
	uint32_t device;
	uint64_t dropped_ns, unseen_ns, allocated;
};

struct recorded_allocation {
	uint32_t device, owner;
	uint64_t held;
};

struct recorded_interval {
	uint64_t time_ns; /* MONOTONIC, its end */
	uint64_t boottime_ns;
	int64_t realtime_ms;
	uint64_t length_ns; /* 0: the baseline */
	uint64_t asleep_ns;
	double utilisation;
	uint64_t settle_ns;
	struct work_sums work;
	bool has_steal;    /* whether the two are known: of a virtual machine only */
	uint64_t steal_ns; /* vCPUs waited for the host, by the machine's own account */
	/* The part of it that is in work.busy_ns, and is subtracted for estimates of power. */
	uint64_t stolen_ns;
	struct work_places places;
	const struct recorded_reading *readings; /* [reading_count], by zone */
	size_t reading_count;
	const uint32_t *parties; /* [party_count] */
	size_t party_count;
	const uint64_t *cpu_ns; /* [party_count] */
	uint32_t sockets;       /* that are told apart */
	const uint64_t *socket_ns[RECORD_PLACES_MAX];
	uint32_t signals; /* SIGNAL_BIT() of those that are known */
	const uint64_t *signal[SIGNAL_COUNT];
	const struct recorded_use *uses;
	size_t use_count;
	const struct recorded_nameless *nameless;
	size_t nameless_count;
	const struct recorded_allocation *allocations;
	size_t allocation_count;
	const uint32_t *ended; /* processes */
	size_t ended_count;
};

struct recorded_end {
	uint64_t intervals, lost;
};

struct record {
	enum record_type type;
	union {
		struct recorded_pair pair;
		struct recorded_zone zone;
		struct recorded_idle idle;
		struct recorded_owner owner;
		struct recorded_process process;
		struct recorded_state state;
		struct recorded_interval interval;
		struct recorded_end end;
	};
};
