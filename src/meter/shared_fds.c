// SPDX-License-Identifier: Apache-2.0
#include "meter/shared_fds.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void close_all(const int *fds, size_t count)
{
	/* The last one first: perf events of a group end before their leader. */
	for (size_t i = count; i > 0; i--)
		(void)close(fds[i - 1]);
}

struct shared_fds *shared_fds_new(const int *fds, size_t count, uint32_t generation)
{
	struct shared_fds *shared = calloc(1, sizeof(*shared) + count * sizeof(*fds));

	if (!shared) {
		close_all(fds, count);
		return NULL;
	}
	atomic_init(&shared->refs, 1);
	shared->generation = generation;
	shared->count = count;
	memcpy(shared->fds, fds, count * sizeof(*fds));
	return shared;
}

struct shared_fds *shared_fds_ref(struct shared_fds *shared)
{
	if (shared)
		atomic_fetch_add(&shared->refs, 1);
	return shared;
}

void shared_fds_unref(struct shared_fds *shared)
{
	if (!shared || atomic_fetch_sub(&shared->refs, 1) != 1)
		return;
	close_all(shared->fds, shared->count);
	free(shared);
}

void shared_fds_release(struct shared_fds **shared)
{
	shared_fds_unref(*shared);
}
