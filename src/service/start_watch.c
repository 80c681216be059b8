// SPDX-License-Identifier: Apache-2.0
#include "service/start_watch.h"

#include <signal.h>

#include "base/clock.h"
#include "base/thread.h"
#include "service/privileges.h"
#include "service/signals.h"

#define LOOK_NS (100 * NSEC_PER_MSEC)

/* With the lock held. */
static void wait_for_look(struct start_watch *watch)
{
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + LOOK_NS;
	struct timespec until = { (time_t)(until_ns / NSEC_PER_SEC),
				  (long)(until_ns % NSEC_PER_SEC) };

	(void)pthread_cond_timedwait(&watch->over, &watch->lock, &until);
}

static void *watch_main(void *arg)
{
	struct start_watch *watch = arg;
	uint64_t asked_ns = clock_ns(CLOCK_MONOTONIC);
	bool given_up = false;

	privileges_drop_thread();
	(void)pthread_mutex_lock(&watch->lock);
	while (!watch->is_over) {
		uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

		watch->wishes |= signals_take(watch->signal_fd);
		if (!(watch->wishes & SIGNAL_STOP))
			asked_ns = now_ns;
		if (!given_up && now_ns - asked_ns > watch->patience_ns) {
			given_up = true;
			watch->give_up();
		}
		wait_for_look(watch);
	}
	(void)pthread_mutex_unlock(&watch->lock);
	return NULL;
}

int start_watch_begin(struct start_watch *watch, int signal_fd, uint64_t patience_ns,
		      void (*give_up)(void))
{
	pthread_condattr_t attr;

	*watch = (struct start_watch){
		.signal_fd = signal_fd,
		.patience_ns = patience_ns,
		.give_up = give_up,
	};
	(void)pthread_mutex_init(&watch->lock, NULL); /* these cannot fail on Linux */
	(void)pthread_condattr_init(&attr);
	(void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&watch->over, &attr);
	(void)pthread_condattr_destroy(&attr);
	return thread_start(&watch->thread, 0, watch_main, watch);
}

unsigned start_watch_end(struct start_watch *watch)
{
	(void)pthread_mutex_lock(&watch->lock);
	watch->is_over = true;
	(void)pthread_cond_signal(&watch->over);
	(void)pthread_mutex_unlock(&watch->lock);
	(void)pthread_join(watch->thread, NULL);
	(void)pthread_cond_destroy(&watch->over);
	(void)pthread_mutex_destroy(&watch->lock);
	return watch->wishes;
}
