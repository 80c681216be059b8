// SPDX-License-Identifier: Apache-2.0
/*
 * The thread: scans at the start, when the directory requests an id, and every 60 s. The directory
 * may repeatedly request an id that no runtime here knows (a container of a user's own Podman), so
 * after a scan without a new name the pause is two seconds instead of one.
 */
#include "runtimes/runtimes.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/thread.h"
#include "runtimes/scan_sources.h"

#define PERIOD_NS (60 * NSEC_PER_SEC)
#define PAUSE_NS  (1 * NSEC_PER_SEC)

struct runtimes {
	struct scan scan; /* of the thread */
	struct directory *directory;
	pthread_t thread;
	int stop_fd; /* readable once stopping */
	atomic_bool stopping;
	pthread_mutex_t lock; /* the one below */
	struct runtimes_stats stats;
};

static void publish_stats(struct runtimes *runtimes)
{
	pthread_mutex_lock(&runtimes->lock);
	runtimes->stats = runtimes->scan.stats;
	pthread_mutex_unlock(&runtimes->lock);
}

/* Waits up to @ns for an id that is wanted (unless @wanted_fd is -1) or for the stop. */
static bool wait_for(const struct runtimes *runtimes, int wanted_fd, uint64_t ns)
{
	struct pollfd fds[] = {
		{ .fd = runtimes->stop_fd, .events = POLLIN },
		{ .fd = wanted_fd, .events = POLLIN },
	};
	int n = poll(fds, ARRAY_SIZE(fds), (int)(ns / NSEC_PER_MSEC));

	return n > 0 && (fds[1].revents & POLLIN);
}

static void forget_wishes(int wanted_fd)
{
	uint64_t wishes;
	ssize_t n = read(wanted_fd, &wishes, sizeof(wishes));

	(void)n; /* -EAGAIN: none; the next scan serves all of them */
}

static void *watch(void *userdata)
{
	struct runtimes *runtimes = userdata;
	int wanted_fd = directory_wanted_fd(runtimes->directory, DIRECTORY_RUNTIME);
	uint64_t pause_ns, changes;
	bool wanted = false;

	while (!atomic_load(&runtimes->stopping)) {
		changes = runtimes->scan.table.changes;
		scan_sources_run(&runtimes->scan, clock_ns(CLOCK_BOOTTIME));
		publish_stats(runtimes);
		pause_ns =
			wanted && runtimes->scan.table.changes == changes ? 2 * PAUSE_NS : PAUSE_NS;
		(void)wait_for(runtimes, -1, pause_ns);
		wanted = wait_for(runtimes, wanted_fd, PERIOD_NS - pause_ns);
		if (wanted)
			forget_wishes(wanted_fd);
	}
	return NULL;
}

static void release(struct runtimes *runtimes)
{
	scan_sources_release(&runtimes->scan);
	cleanup_fd(&runtimes->stop_fd);
	(void)pthread_mutex_destroy(&runtimes->lock);
	free(runtimes);
}

int runtimes_start(const struct runtimes_options *options, struct directory *directory,
		   struct runtimes **ret, struct diag *diag)
{
	struct runtimes *runtimes = calloc(1, sizeof(*runtimes));
	int r;

	if (!runtimes)
		return diag_set(diag, -ENOMEM, "names of containers: out of memory");
	runtimes->directory = directory;
	(void)pthread_mutex_init(&runtimes->lock, NULL);
	runtimes->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = runtimes->stop_fd < 0 ? -errno : 0;
	if (r == 0)
		r = scan_init(&runtimes->scan, options, directory, &runtimes->stopping,
			      runtimes->stop_fd);
	if (r == 0)
		r = thread_start(&runtimes->thread, 0, watch, runtimes);
	if (r < 0) {
		release(runtimes);
		return diag_set(diag, r, "names of containers: %s", strerrordesc_np(-r));
	}
	*ret = runtimes;
	return 0;
}

void runtimes_stop(struct runtimes *runtimes)
{
	const uint64_t one = 1;
	ssize_t n;

	if (!runtimes)
		return;
	atomic_store(&runtimes->stopping, true);
	n = write(runtimes->stop_fd, &one, sizeof(one));
	(void)n; /* the thread sees the flag within a pause even if this failed, which it cannot */
	(void)pthread_join(runtimes->thread, NULL);
	release(runtimes);
}

void runtimes_get_stats(struct runtimes *runtimes, struct runtimes_stats *ret)
{
	pthread_mutex_lock(&runtimes->lock);
	*ret = runtimes->stats;
	pthread_mutex_unlock(&runtimes->lock);
}
