// SPDX-License-Identifier: Apache-2.0
#include "export/disk_start.h"

#include <errno.h>
#include <time.h>

#include "base/clock.h"

void disk_start_init(struct disk_start *start)
{
	pthread_condattr_t monotonic;

	*start = (struct disk_start){ .is_over = false };
	/* None of these can fail. */
	(void)pthread_condattr_init(&monotonic);
	(void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	(void)pthread_mutex_init(&start->lock, NULL);
	(void)pthread_cond_init(&start->changed, &monotonic);
	(void)pthread_condattr_destroy(&monotonic);
}

void disk_start_release(struct disk_start *start)
{
	(void)pthread_cond_destroy(&start->changed);
	(void)pthread_mutex_destroy(&start->lock);
}

bool disk_start_end(struct disk_start *start, int r, const struct diag *diag)
{
	bool is_awaited;

	(void)pthread_mutex_lock(&start->lock);
	start->result = r;
	start->diag = *diag;
	start->is_over = true;
	is_awaited = !start->is_given_up;
	(void)pthread_cond_signal(&start->changed);
	(void)pthread_mutex_unlock(&start->lock);
	return is_awaited;
}

int disk_start_wait(struct disk_start *start, uint64_t until_ns, struct diag *diag)
{
	const struct timespec until = { (time_t)(until_ns / NSEC_PER_SEC),
					(long)(until_ns % NSEC_PER_SEC) };
	int r = 0;

	(void)pthread_mutex_lock(&start->lock);
	while (r == 0 && !start->is_over)
		r = pthread_cond_timedwait(&start->changed, &start->lock, &until);
	start->is_given_up = !start->is_over;
	if (start->is_over) {
		r = start->result;
		if (r < 0)
			(void)diag_set(diag, r, "%s", start->diag.text);
	} else {
		r = -ETIMEDOUT;
	}
	(void)pthread_mutex_unlock(&start->lock);
	return r;
}
