/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring of recordings in a directory: kepler-TIME-N.krec. The oldest are removed if they are too
 * old, or all together are too large. Each is a complete recording. Files with other names are left
 * alone.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define RECORD_RING_PARTS 8 /* files that the time, or the size, is divided into */
#define RECORD_RING_FILES 4096

struct record_ring {
	const char *dir; /* borrowed */
	uint64_t keep_ms;
	uint64_t max_bytes;
	uint32_t number; /* of the last file of this process */
};

/* A new, empty file, which may be written to; -errno with a diagnosis. */
int record_ring_open_next(struct record_ring *ring, int64_t now_ms, struct diag *diag);
/* Returns true if a file of @bytes that was begun @age_ms ago is to be followed by another. */
bool record_ring_is_due(const struct record_ring *ring, uint64_t bytes, uint64_t age_ms);
/*
 * Removes what is too old or too much, but not the newest file. The bytes that are left; -errno
 * with a diagnosis.
 */
int64_t record_ring_trim(const struct record_ring *ring, int64_t now_ms, struct diag *diag);

struct record_ring_file {
	char name[64];
	int64_t begun_ms; /* time of day */
};

/*
 * The files of a ring's directory in order of age, as an array of the caller's. Their number, or
 * -errno with a diagnosis.
 */
int64_t record_ring_list(const char *path, struct record_ring_file **ret, struct diag *diag);

/* The contents of a ring's directory. */
struct record_ring_content {
	size_t files; /* RECORD_RING_FILES at most are counted */
	uint64_t bytes;
	int64_t changed_ms; /* when the newest was written to last; 0 without files */
};

/* 0, or -errno with a diagnosis. */
int record_ring_look(const char *path, struct record_ring_content *ret, struct diag *diag);
