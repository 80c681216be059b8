/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report of a host to a guest about the guest's energy: one record per virtual machine and
 * interval. docs/passthrough.md specifies it, so that other programs can write and read it.
 *
 * All energies and times of CPUs are cumulative within an epoch, so that a lost record loses
 * nothing: the next one covers it. A host may be hostile: a reader gets a valid record or none.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "energy/zone.h"

#define PASSTHROUGH_VERSION             1
#define PASSTHROUGH_RECORD_MAX          512 /* bytes of a record in its binary form */
#define PASSTHROUGH_ZONES_MAX           10
#define PASSTHROUGH_NAME_SIZE           16 /* bytes of a zone's name, padded with NUL */

#define PASSTHROUGH_UNCERTAINTY_UNKNOWN UINT32_MAX

/* struct passthrough_record.flags */
#define PASSTHROUGH_IDLE       1U  /* idle energy is shared out to virtual machines */
#define PASSTHROUGH_FILTERED   2U  /* the host's RAPL is filtered */
#define PASSTHROUGH_RESERVED   12U /* without a meaning; 0 in what a writer sends */
#define PASSTHROUGH_RESOLUTION 16U /* energies are rounded down to whole mJ */

/* One kind of zone of one quality. No two zones of a record have both in common. */
struct passthrough_zone {
	enum zone_kind kind;
	enum zone_quality quality;
	uint32_t uncertainty_ppm; /* of the energy, or PASSTHROUGH_UNCERTAINTY_UNKNOWN */
	uint64_t dynamic_uj;
	uint64_t idle_uj; /* 0 without PASSTHROUGH_IDLE */
};

struct passthrough_record {
	uint64_t epoch;    /* random, not 0; another one where the host's account begins again */
	uint64_t sequence; /* 1, 2, 3 … in its epoch; 1: the account began with this interval */
	uint64_t realtime_ns; /* the end of the interval, by the host's clocks */
	uint64_t boottime_ns;
	uint64_t interval_ns; /* since the end of the record with sequence - 1 */
	uint64_t vm_hash;     /* passthrough_vm_hash(); 0: the host does not know the UUID */
	uint64_t cpu_time_us; /* that the host counted for the virtual machine */
	uint32_t flags;
	uint32_t period_ms; /* the host's nominal interval */
	size_t zone_count;
	size_t unknown_zones; /* of kinds that this reader does not know; a writer ignores it */
	struct passthrough_zone zones[PASSTHROUGH_ZONES_MAX];
};

enum passthrough_refusal {
	PASSTHROUGH_OK,
	PASSTHROUGH_BAD_VERSION, /* of a version that this reader does not know */
	PASSTHROUGH_BAD_LENGTH,
	PASSTHROUGH_BAD_SUM,     /* the CRC is of other bytes: a torn record */
	PASSTHROUGH_BAD_CONTENT, /* whole, but it contradicts the specification */
	PASSTHROUGH_REFUSAL_COUNT,
};

/* Why the values cannot be a record's, or NULL. Both forms check it. */
const char *passthrough_record_fault(const struct passthrough_record *record);

/* Writes a record; returns its length, or 0 if it has a fault. */
size_t passthrough_record_write(const struct passthrough_record *record,
				uint8_t ret[static PASSTHROUGH_RECORD_MAX]);
/* Reads one record that fills @bytes. *ret only with PASSTHROUGH_OK. */
enum passthrough_refusal passthrough_record_read(const uint8_t *bytes, size_t len,
						 struct passthrough_record *ret);

/*
 * FNV-1a of the UUID's 36 characters, converted to lower case first; 0 if @uuid is not a UUID. A
 * trailing newline is ignored.
 */
uint64_t passthrough_vm_hash(const char *uuid);

/*
 * Records in a stream of bytes that may begin within one, or have foreign bytes between them. All
 * zero is an empty one.
 */
struct passthrough_stream {
	uint8_t bytes[2 * PASSTHROUGH_RECORD_MAX];
	size_t len;
	uint64_t skipped; /* bytes that are in no record */
	uint64_t refused[PASSTHROUGH_REFUSAL_COUNT];
};

/*
 * Takes bytes, at least one while passthrough_stream_next() has nothing more; returns how many.
 */
size_t passthrough_stream_add(struct passthrough_stream *stream, const void *bytes, size_t len);
/* True with the next record; false when more bytes are needed. */
bool passthrough_stream_next(struct passthrough_stream *stream, struct passthrough_record *ret);
