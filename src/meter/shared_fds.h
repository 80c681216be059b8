/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open descriptors of one part of a meter, shared by the part and by the reads under way: a read
 * may hang while a rescan replaces them. They are closed with the last reference.
 */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct shared_fds {
	atomic_uint refs;
	uint32_t generation; /* struct raw_reading */
	size_t count;
	int fds[]; /* [count] */
};

/*
 * Takes over the @count descriptors, also on failure. The reference is given; NULL: no memory.
 */
struct shared_fds *shared_fds_new(const int *fds, size_t count, uint32_t generation);
/* Another reference; NULL for NULL. */
struct shared_fds *shared_fds_ref(struct shared_fds *shared);
void shared_fds_unref(struct shared_fds *shared);
/* For CLEANUP(). */
void shared_fds_release(struct shared_fds **shared);
