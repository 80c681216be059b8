/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a trained model, which may be replaced while the program runs. */
#pragma once

#include <stdint.h>

#include "base/diag.h"
#include "model/trained_model.h"

/* Identifies what was read last; all zero: nothing was read. */
struct watched_stamp {
	uint64_t device, inode, size;
	int64_t mtime_ns;
	uint64_t hash; /* of the content */
};

/*
 * Reads and checks the file unless it is as @stamp describes it; @stamp then describes it as it is
 * now. 1 with *ret, given; 0: its content is the same; -errno with @diag: it cannot be used. @diag
 * is left alone if the file could not be read last time either.
 */
int watched_model_read(const char *path, struct watched_stamp *stamp, struct trained_model *ret,
		       struct diag *diag);
