/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recording of the exporter: a store, the tap that feeds it, and log messages about both. If
 * nothing can be recorded, the exporter runs without it.
 */
#pragma once

#include "base/health.h"
#include "config/config.h"
#include "engine/record_tap.h"
#include "record/record_store.h"

struct recorder_health {
	uint64_t intervals, lost, errors, bytes;
};
extern const struct health_part recorder_health_part; /* of a struct recorder */

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
/* Once an interval: logs that intervals are lost, and when none is lost any more. */
void recorder_report(struct recorder *recorder);
/* Writes the remaining intervals, waiting @patience_ns at most. 0 or -ETIMEDOUT. */
int recorder_close(struct recorder *recorder, uint64_t patience_ns);
