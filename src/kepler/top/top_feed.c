// SPDX-License-Identifier: Apache-2.0
/*
 * The thread works for the present target: a change ends its request, and answers to an earlier one
 * are dropped by its number. Only the newest answer is kept.
 */
#include "kepler/top/top_feed.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"
#include "base/thread.h"
#include "net/local_client.h"
#include "top/now_reading.h"

#define TARGET_SIZE 128
#define PAUSE_NS    NSEC_PER_SEC
/* The exporter ends each request after half a minute, if nothing new has come before. */
#define FOLLOW      "&follow=30"
#define PATIENCE_NS (40 * NSEC_PER_SEC)
#define FOLLOW_SIZE (TARGET_SIZE + sizeof(FOLLOW))

struct top_feed {
	struct local_client *client; /* the thread's */
	int changed_fd, ready_fd;    /* eventfds: another target; an answer */
	pthread_t thread;
	bool is_started;
	pthread_mutex_t lock; /* for what follows */
	bool is_over;
	char target[TARGET_SIZE]; /* "": nothing yet */
	uint64_t number;          /* of the target */
	bool has_answer;
	int result; /* of the answer */
	struct strbuf answer;
	struct diag diag;
};

/* The request that the thread is at. */
struct feeding {
	struct top_feed *feed;
	uint64_t number;
};

static void hand_over(const struct feeding *feeding, struct strbuf *line, int result,
		      const struct diag *diag)
{
	struct top_feed *feed = feeding->feed;

	(void)pthread_mutex_lock(&feed->lock);
	if (feeding->number == feed->number) {
		feed->has_answer = true;
		feed->result = result;
		if (line) {
			struct strbuf before = feed->answer;

			feed->answer = *line;
			*line = before;
		}
		if (diag)
			feed->diag = *diag;
		(void)eventfd_write(feed->ready_fd, 1); /* a full one is readable anyway */
	}
	(void)pthread_mutex_unlock(&feed->lock);
}

static void take_line(void *userdata, struct strbuf *line)
{
	hand_over(userdata, line, 0, NULL);
}

/* Until the target changes, at most to @end_ns. */
static void wait_for_change(const struct top_feed *feed, uint64_t end_ns)
{
	struct pollfd changed = { .fd = feed->changed_fd, .events = POLLIN };
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (now_ns < end_ns)
		(void)poll(&changed, 1, (int)((end_ns - now_ns) / NSEC_PER_MSEC) + 1);
}

/* false: the feed is over. */
static bool read_target(struct top_feed *feed, char ret[static FOLLOW_SIZE], uint64_t *ret_number)
{
	eventfd_t ignored;
	bool is_over;

	(void)eventfd_read(feed->changed_fd, &ignored); /* nonblocking */
	(void)pthread_mutex_lock(&feed->lock);
	is_over = feed->is_over;
	*ret_number = feed->number;
	(void)snprintf(ret, FOLLOW_SIZE, "%s%s", feed->target, FOLLOW);
	(void)pthread_mutex_unlock(&feed->lock);
	return !is_over;
}

static void *work(void *userdata)
{
	struct feeding feeding = { .feed = userdata };
	struct top_feed *feed = userdata;
	char target[FOLLOW_SIZE];

	while (read_target(feed, target, &feeding.number)) {
		uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
		struct diag diag = { "" };
		int r = 0;

		if (!feeding.number) {
			wait_for_change(feed, begin_ns + PAUSE_NS);
			continue;
		}
		r = local_client_follow(feed->client, target, NOW_ANSWER_MAX, PATIENCE_NS,
					take_line, &feeding, &diag);
		if (r < 0 && r != -ECANCELED)
			hand_over(&feeding, NULL, r, &diag);
		wait_for_change(feed, begin_ns + PAUSE_NS);
	}
	return NULL;
}

static int start(struct top_feed *feed, const char *socket, struct diag *diag)
{
	int r;

	feed->changed_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	feed->ready_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (feed->changed_fd < 0 || feed->ready_fd < 0)
		return diag_set(diag, -errno, "%s", strerrordesc_np(errno));
	r = local_client_open_cancelled(socket, "kepler-top", feed->changed_fd, &feed->client,
					diag);
	if (r < 0)
		return r;
	r = thread_start(&feed->thread, 0, work, feed);
	feed->is_started = r == 0;
	return r < 0 ? diag_set(diag, r, "cannot start a thread: %s", strerrordesc_np(-r)) : 0;
}

int top_feed_open(const char *socket, struct top_feed **ret, struct diag *diag)
{
	struct top_feed *feed = calloc(1, sizeof(*feed));
	int r;

	if (!feed)
		return diag_set(diag, -ENOMEM, "out of memory");
	feed->changed_fd = feed->ready_fd = -1;
	(void)pthread_mutex_init(&feed->lock, NULL); /* cannot fail with default attributes */
	r = start(feed, socket, diag);
	if (r < 0)
		top_feed_close(feed);
	else
		*ret = feed;
	return r;
}

void top_feed_close(struct top_feed *feed)
{
	if (!feed)
		return;
	if (feed->is_started) {
		(void)pthread_mutex_lock(&feed->lock);
		feed->is_over = true;
		(void)pthread_mutex_unlock(&feed->lock);
		(void)eventfd_write(feed->changed_fd, 1);
		(void)pthread_join(feed->thread, NULL);
	}
	local_client_close(feed->client);
	if (feed->changed_fd >= 0)
		(void)close(feed->changed_fd);
	if (feed->ready_fd >= 0)
		(void)close(feed->ready_fd);
	strbuf_release(&feed->answer);
	(void)pthread_mutex_destroy(&feed->lock);
	free(feed);
}

void top_feed_want(struct top_feed *feed, const char *target)
{
	eventfd_t ignored;

	(void)pthread_mutex_lock(&feed->lock);
	if (strcmp(feed->target, target) != 0) {
		(void)snprintf(feed->target, sizeof(feed->target), "%s", target);
		feed->number++;
		feed->has_answer = false;
		(void)eventfd_read(feed->ready_fd, &ignored); /* nonblocking */
		(void)eventfd_write(feed->changed_fd, 1);
	}
	(void)pthread_mutex_unlock(&feed->lock);
}

int top_feed_fd(const struct top_feed *feed)
{
	return feed->ready_fd;
}

int top_feed_take(struct top_feed *feed, struct strbuf *ret, struct diag *diag)
{
	eventfd_t ignored;
	int r = -EAGAIN;

	(void)pthread_mutex_lock(&feed->lock);
	(void)eventfd_read(feed->ready_fd, &ignored); /* nonblocking */
	if (feed->has_answer) {
		struct strbuf before = *ret;

		r = feed->result;
		feed->has_answer = false;
		if (r == 0) {
			*ret = feed->answer;
			feed->answer = before;
		} else {
			*diag = feed->diag;
		}
	}
	(void)pthread_mutex_unlock(&feed->lock);
	return r;
}
