// SPDX-License-Identifier: Apache-2.0
/*
 * One call after the other, each with a deadline and a limit of size. An answer that is refused
 * changes nothing but the statistics.
 */
#include "kube/pods/pod_resources.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"
#include "base/thread.h"
#include "net/backoff.h"
#include "net/grpc_call.h"

#define METHOD             "/v1.PodResourcesLister/List"
#define POLL_MS            5000
#define NAMELESS_POLL_MS   1000
#define NAMELESS_POLLS     10
#define CONNECT_TIMEOUT_MS 1000
#define CALL_TIMEOUT_MS    3000
#define ANSWER_BYTES_MAX   (4U << 20) /* as gRPC's own clients have it */
#define THREAD_STACK_BYTES (1U << 20)

struct pod_resources {
	char *socket;
	struct directory *directory;
	void (*start_thread)(void);
	int stop_fd;
	pthread_t thread;
	bool started;
	struct http_client *client; /* this and the next two are the thread's; NULL: not yet */
	struct backoff backoff;
	struct pod_devices fresh;
	unsigned nameless_polls; /* in a row */

	pthread_mutex_t lock; /* for what follows */
	struct pod_devices devices;
	bool is_new;
	struct pod_resources_stats stats;
};

static void note_failure(struct pod_resources *resources, const char *why)
{
	(void)pthread_mutex_lock(&resources->lock);
	resources->stats.reachable = false;
	resources->stats.failures++;
	(void)snprintf(resources->stats.last_error, sizeof(resources->stats.last_error),
		       "%.100s: %.150s", resources->socket, why);
	(void)pthread_mutex_unlock(&resources->lock);
}

static void publish(struct pod_resources *resources, uint64_t bad)
{
	struct pod_devices before;

	resources->nameless_polls = resources->fresh.nameless ? resources->nameless_polls + 1 : 0;
	(void)pthread_mutex_lock(&resources->lock);
	before = resources->devices;
	resources->devices = resources->fresh;
	resources->fresh = before;
	resources->is_new = true;
	resources->stats.reachable = true;
	resources->stats.bad += bad;
	resources->stats.beyond = resources->devices.beyond;
	(void)pthread_mutex_unlock(&resources->lock);
}

static void take_device(void *userdata, const struct listed_device *device)
{
	struct pod_resources *resources = userdata;

	pod_devices_add(&resources->fresh, resources->directory, device);
}

static int take_list(struct pod_resources *resources, const struct strbuf *message,
		     struct diag *diag)
{
	int64_t bad;

	pod_devices_clear(&resources->fresh);
	bad = pod_resources_list(message->data, message->len, take_device, resources);
	if (bad < 0)
		return diag_set(diag, (int)bad, "the answer is not a list of pods");
	publish(resources, (uint64_t)bad);
	return 0;
}

static int make_client(struct pod_resources *resources, struct diag *diag)
{
	const struct http_client_options options = {
		.unix_socket = resources->socket,
		.user_agent = "kepler",
		.cancel_fd = resources->stop_fd,
		.http2 = true,
	};

	return resources->client ? 0 : http_client_new(&options, &resources->client, diag);
}

/* libcurl does not say why it could not connect: whether there is a socket, and for whom. */
static int explain_refusal(const struct pod_resources *resources, int r, struct diag *diag)
{
	if (r == -ECONNREFUSED && access(resources->socket, W_OK) < 0)
		return diag_set(diag, r, "%s", strerrordesc_np(errno));
	return r;
}

/* -ECANCELED: the thread is to end. */
static int ask(struct pod_resources *resources, struct http_reply *reply, struct diag *diag)
{
	static const struct grpc_call call = {
		.method = METHOD,
		.connect_timeout_ms = CONNECT_TIMEOUT_MS,
		.timeout_ms = CALL_TIMEOUT_MS,
	};
	struct grpc_answer answer;
	int r = make_client(resources, diag);

	if (r < 0)
		return r;
	grpc_answer_init(&answer, ANSWER_BYTES_MAX);
	r = grpc_call(resources->client, &call, &answer, reply, diag);
	if (r < 0)
		r = explain_refusal(resources, r, diag);
	else
		r = take_list(resources, &answer.message, diag);
	grpc_answer_release(&answer);
	return r;
}

/* Until the next call. */
static uint64_t pause_ms(struct pod_resources *resources, int r, const struct http_reply *reply,
			 uint64_t lasted_ns)
{
	struct backoff_failure failure = { .kind = BACKOFF_FAILED,
					   .lasted_ms = lasted_ns / NSEC_PER_MSEC };
	uint32_t chance;

	if (r == 0) {
		backoff_succeeded(&resources->backoff);
		return resources->nameless_polls > 0 && resources->nameless_polls <= NAMELESS_POLLS
			       ? NAMELESS_POLL_MS
			       : POLL_MS;
	}
	if (r == -EACCES || r == -ENOSYS)
		failure.kind = BACKOFF_DENIED;
	else if (!reply->connected && r == -ECONNREFUSED)
		failure.kind = BACKOFF_ABSENT;
	if (getrandom(&chance, sizeof(chance), GRND_NONBLOCK) != (ssize_t)sizeof(chance))
		chance = 0;
	return backoff_failed(&resources->backoff, &failure, chance);
}

static bool is_stopped(const struct pod_resources *resources, uint64_t wait_ms)
{
	struct pollfd stop = { .fd = resources->stop_fd, .events = POLLIN };

	return poll(&stop, 1, (int)wait_ms) > 0;
}

static void *thread_main(void *userdata)
{
	struct pod_resources *resources = userdata;
	uint64_t wait_ms;

	if (resources->start_thread)
		resources->start_thread();
	do {
		uint64_t began_ns = clock_ns(CLOCK_MONOTONIC);
		struct http_reply reply = { 0 };
		struct diag diag = { "" };
		int r = ask(resources, &reply, &diag);

		if (r == -ECANCELED)
			return NULL;
		(void)pthread_mutex_lock(&resources->lock);
		resources->stats.requests += reply.connected;
		(void)pthread_mutex_unlock(&resources->lock);
		if (r < 0)
			note_failure(resources, diag.text);
		wait_ms = pause_ms(resources, r, &reply, clock_ns(CLOCK_MONOTONIC) - began_ns);
	} while (!is_stopped(resources, wait_ms));
	return NULL;
}

static int prepare(struct pod_resources *resources, const struct pod_resources_options *options,
		   struct diag *diag)
{
	static const struct backoff_limits limits = {
		.refused_min_ms = 2000,
		.refused_max_ms = 9000,
		.resume_ms = 1000,
		.retry_ms = 10000,
		.spread_ms = 2000,
		.denied_max_ms = 40000,
	};
	int r;

	backoff_init(&resources->backoff, &limits);
	resources->socket = strdup(options->socket);
	if (!resources->socket)
		return diag_set(diag, -ENOMEM, "out of memory");
	resources->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (resources->stop_fd < 0)
		return diag_set(diag, -errno, "no descriptor: %s", strerrordesc_np(errno));
	r = thread_start(&resources->thread, THREAD_STACK_BYTES, thread_main, resources);
	resources->started = r == 0;
	return r < 0 ? diag_set(diag, r, "no thread: %s", strerrordesc_np(-r)) : 0;
}

int pod_resources_start(const struct pod_resources_options *options, struct directory *directory,
			struct pod_resources **ret, struct diag *diag)
{
	struct pod_resources *resources = calloc(1, sizeof(*resources));
	int r;

	if (!resources)
		return diag_set(diag, -ENOMEM, "out of memory");
	resources->directory = directory;
	resources->start_thread = options->start_thread;
	resources->stop_fd = -1;
	(void)pthread_mutex_init(&resources->lock, NULL);
	r = prepare(resources, options, diag);
	if (r < 0) {
		pod_resources_stop(resources);
		return r;
	}
	*ret = resources;
	return 0;
}

void pod_resources_stop(struct pod_resources *resources)
{
	if (!resources)
		return;
	if (resources->started) {
		(void)eventfd_write(resources->stop_fd, 1);
		(void)pthread_join(resources->thread, NULL);
	}
	http_client_free(resources->client);
	pod_devices_release(&resources->fresh);
	pod_devices_release(&resources->devices);
	cleanup_fd(&resources->stop_fd);
	free(resources->socket);
	(void)pthread_mutex_destroy(&resources->lock);
	free(resources);
}

bool pod_resources_take(struct pod_resources *resources, struct pod_devices *devices)
{
	struct pod_devices before = *devices;
	bool is_new;

	(void)pthread_mutex_lock(&resources->lock);
	is_new = resources->is_new;
	if (is_new) {
		*devices = resources->devices;
		resources->devices = before;
		resources->is_new = false;
	}
	(void)pthread_mutex_unlock(&resources->lock);
	return is_new;
}

void pod_resources_get_stats(struct pod_resources *resources, struct pod_resources_stats *ret)
{
	(void)pthread_mutex_lock(&resources->lock);
	*ret = resources->stats;
	(void)pthread_mutex_unlock(&resources->lock);
}
