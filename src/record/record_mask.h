/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes names out of a recording that is to be given away: each text and pid becomes another one,
 * the same for the same, by a keyed hash (SipHash-2-4). The key is random, one a file, and is kept
 * nowhere, so that names cannot be tried out. Energies and times stay.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "record/recording.h"

#define RECORD_MASK_TEXT 20

struct record_mask {
	bool on;
	uint64_t key[2];
};

/* The texts of an owner that was masked. */
struct masked_owner {
	char text[LABEL_KEY_COUNT][RECORD_MASK_TEXT];
};

/* A new random key; 0 or -errno. */
int record_mask_init(struct record_mask *mask);
/* SipHash-2-4 of @bytes. */
uint64_t record_mask_hash(const struct record_mask *mask, const void *bytes, size_t len);
/* "x4f1d0c2a9b3e"; "" stays. */
void record_mask_text(const struct record_mask *mask, const char *text,
		      char ret[static RECORD_MASK_TEXT]);
/*
 * Masks all names except names of classes (label_info.h), such as the runtime, and the owners
 * "system_processes" and "kernel_processes". Extra labels of pods are left out.
 */
void record_mask_owner(const struct record_mask *mask, struct recorded_owner *owner,
		       struct masked_owner *texts);
void record_mask_process(const struct record_mask *mask, struct recorded_process *process);
/* The UUID of a device, and where a zone was found: a path of a user, perhaps. */
void record_mask_zone(const struct record_mask *mask, struct recorded_zone *zone);
