/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the exporter records: a store, the tap that feeds it, and what is said of both. Where
 * nothing can be recorded, the exporter runs on without.
 */
#pragma once

#include "config/config.h"
#include "engine/record_tap.h"
#include "record/record_store.h"
#include "snapshot/snapshot.h"

struct recorder {
	struct record_store *store; /* NULL: nothing is recorded */
	struct record_tap tap;
	struct record_store_stats last;
	bool is_losing; /* which was logged */
	bool is_ring;
};

/* The ring that --record.dir asks for, if it does. 0, or -errno with a diagnosis. */
int recorder_open_ring(struct recorder *recorder, const struct config *config, uint32_t cpus,
		       struct diag *diag);
/*
 * One file @fd, from record_store_create(@path), which is taken over; of at most @max_bytes, 0:
 * without a limit. 0, or -errno with a diagnosis.
 */
int recorder_open_file(struct recorder *recorder, const struct config *config, uint32_t cpus,
		       const char *path, int fd, uint64_t max_bytes, struct diag *diag);
/* For the engine; NULL: nothing is recorded. */
struct record_tap *recorder_tap(struct recorder *recorder);
/* Once an interval: for metrics, and logs what is lost, once until it is otherwise. */
void recorder_report(struct recorder *recorder, struct snapshot_self *self);
/* Writes what is left, for which it waits @patience_ns at most. 0 or -ETIMEDOUT. */
int recorder_close(struct recorder *recorder, uint64_t patience_ns);
