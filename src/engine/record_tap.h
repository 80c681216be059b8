/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells a store (src/record) of each interval before it is booked: its inputs, and the definitions
 * that they refer to, as far as they are new. Ids of owners and processes are rows of the ledger; a
 * row that stands for something else by now is defined again.
 *
 * One thread. Costs an encoding of what ran; where memory is missing the interval is lost, and
 * counted by the store.
 */
#pragma once

#include "activity/activity.h"
#include "attribution/books.h"
#include "config/config.h"
#include "record/record_mask.h"
#include "record/record_store.h"

struct written_process;
struct written_owner;

struct record_tap {
	struct record_store *store; /* borrowed */
	const struct config *config;
	uint32_t cpus;
	struct record_mask mask;
	bool anonymize, is_ring;
	bool is_due; /* all definitions come with the next interval, whatever the store says */
	struct strbuf records;
	size_t zones_written;
	bool restored[ZONES_MAX]; /* learners that have changed from outside */
	struct written_process *processes;
	size_t process_size;
	struct written_owner *owners;
	size_t owner_size;
	/* Room for one interval. */
	struct recorded_reading *readings;
	size_t reading_size;
	uint32_t *parties;
	size_t party_size;
	struct recorded_use *uses;
	size_t use_size;
	struct recorded_allocation *allocations;
	size_t allocation_size;
	struct recorded_nameless nameless[DEVICES_MAX];
	uint32_t *ended;
	size_t ended_size;
};

/* The inputs of a recorded interval that are not booked. */
struct record_moment {
	uint64_t boottime_ns;
	int64_t realtime_ms;
	const struct activity *activity; /* for ended processes and stolen time */
};

/* @config is borrowed; it may be replaced later. @is_ring: as the store. 0 or -errno. */
int record_tap_init(struct record_tap *tap, struct record_store *store, const struct config *config,
		    bool anonymize, bool is_ring);
void record_tap_release(struct record_tap *tap);
/* After a reload: the next interval comes with the new options. */
void record_tap_reconfigure(struct record_tap *tap, const struct config *config);
/* The learner of the zone's idle power was set from outside. */
void record_tap_restored(struct record_tap *tap, size_t zone);
/* Records the interval that is booked next; between books_begin() and books_book(). */
void record_tap_tell(struct record_tap *tap, const struct books *books,
		     const struct interval *interval, const struct record_moment *moment);
