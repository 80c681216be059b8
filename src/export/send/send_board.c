// SPDX-License-Identifier: Apache-2.0
#include "export/send/send_board.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"

struct send_receiver *send_board_add(struct send_board *board, const char *url)
{
	struct send_receiver *receiver;

	if (board->count == SEND_RECEIVERS_MAX)
		return NULL;
	receiver = &board->receivers[board->count];
	(void)snprintf(receiver->receiver, sizeof(receiver->receiver), "%.*s",
		       (int)strcspn(url, "?#"), url);
	(void)pthread_mutex_init(&receiver->lock, NULL); /* cannot fail with default attributes */
	__atomic_store_n(&board->count, board->count + 1, __ATOMIC_RELEASE);
	return receiver;
}

void send_speaks(struct send_receiver *receiver, const char *protocol)
{
	(void)pthread_mutex_lock(&receiver->lock);
	(void)snprintf(receiver->words.protocol, sizeof(receiver->words.protocol), "%s", protocol);
	(void)pthread_mutex_unlock(&receiver->lock);
}

void send_failed(struct send_receiver *receiver, const char *why, int64_t now_ms)
{
	(void)pthread_mutex_lock(&receiver->lock);
	(void)snprintf(receiver->words.error, sizeof(receiver->words.error), "%s", why);
	receiver->words.error_ms = now_ms;
	(void)pthread_mutex_unlock(&receiver->lock);
}

void send_words_of(struct send_receiver *receiver, struct send_words *ret)
{
	(void)pthread_mutex_lock(&receiver->lock);
	*ret = receiver->words;
	(void)pthread_mutex_unlock(&receiver->lock);
}

struct shown {
	char receiver[sizeof(((struct send_receiver *)NULL)->receiver)];
	uint64_t sent, retries, refused, full, old, damaged, disk_errors, clock_steps, queue_bytes,
		status;
	uint64_t disk, rejected, replaced, large;
	double age_s, last_success_s;
};

struct send_health {
	struct shown receivers[SEND_RECEIVERS_MAX];
	uint32_t count;
};

#define LOAD(member) __atomic_load_n(&receiver->member, __ATOMIC_RELAXED)

static void show(const struct send_receiver *receiver, int64_t now_ms, struct shown *ret)
{
	int64_t oldest_ms = LOAD(oldest_ms), last_ms = LOAD(last_success_ms);

	memcpy(ret->receiver, receiver->receiver, sizeof(ret->receiver));
	ret->sent = LOAD(sent);
	ret->retries = LOAD(retries);
	ret->refused = LOAD(refused);
	ret->full = LOAD(dropped_full);
	ret->disk = LOAD(dropped_disk);
	ret->old = LOAD(dropped_old);
	ret->clock_steps = LOAD(clock_steps);
	ret->damaged = LOAD(dropped_damaged);
	ret->rejected = LOAD(rejected);
	ret->replaced = LOAD(dropped_replaced);
	ret->large = LOAD(dropped_large);
	ret->disk_errors = LOAD(disk_errors);
	ret->queue_bytes = LOAD(queue_bytes);
	ret->status = LOAD(last_status);
	ret->age_s = oldest_ms && oldest_ms < now_ms ? (double)(now_ms - oldest_ms) / 1000 : 0;
	ret->last_success_s = last_ms ? (double)last_ms / 1000 : (double)NAN;
}

static bool fill(const void *owner, void *ret)
{
	const struct send_board *board = owner;
	struct send_health *health = ret;
	int64_t now_ms = (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_MSEC);

	health->count = (uint32_t)send_board_count(board);
	for (size_t i = 0; i < health->count; i++)
		show(&board->receivers[i], now_ms, &health->receivers[i]);
	return health->count > 0;
}

#define OF(member) HEALTH_VALUE(struct shown, member)
#define EACH       HEALTH_ARRAY(struct send_health, receivers, count)

static const struct health_label labels[] = { { "receiver", offsetof(struct shown, receiver) },
					      { NULL, 0 } };

static const struct health_variant reasons[] = {
	{ "refused", OF(refused) },   { "full", OF(full) },       { "disk", OF(disk) },
	{ "old", OF(old) },           { "damaged", OF(damaged) }, { "rejected", OF(rejected) },
	{ "replaced", OF(replaced) }, { "too_large", OF(large) }, { NULL, { 0 } },
};

static const struct health_metric metrics[] = {
	{ .name = "kepler_exporter_send_samples",
	  .type = FAMILY_COUNTER,
	  .value = OF(sent),
	  .labels = labels,
	  .array = EACH,
	  .help = "Samples that a receiver of pushed data has accepted. Absent without one." },
	{ .name = "kepler_exporter_send_dropped_samples",
	  .type = FAMILY_COUNTER,
	  .labels = labels,
	  .variant_label = "reason",
	  .variants = reasons,
	  .array = EACH,
	  .help = "Samples that are lost to a receiver: it refused them; its queue was full; the "
		  "disk of its queue did not respond; they were older than allowed; a file of the "
		  "queue was damaged (at least this many); it rejected them and accepted the rest "
		  "of the request; newer values replaced them before it could be reached; the "
		  "request "
		  "was too large." },
	{ .name = "kepler_exporter_send_retries",
	  .type = FAMILY_COUNTER,
	  .value = OF(retries),
	  .labels = labels,
	  .array = EACH,
	  .help = "Requests that failed and are sent again, without loss." },
	{ .name = "kepler_exporter_send_disk_errors",
	  .type = FAMILY_COUNTER,
	  .value = OF(disk_errors),
	  .labels = labels,
	  .array = EACH,
	  .help = "Messages that the queue on disk did not take; they wait in memory instead." },
	{ .name = "kepler_exporter_send_clock_steps",
	  .type = FAMILY_COUNTER,
	  .value = OF(clock_steps),
	  .labels = labels,
	  .array = EACH,
	  .help = "Times that the clock was set back between two pushes by remote write. Receivers "
		  "may refuse samples until it has caught up." },
	{ .name = "kepler_exporter_send_queue_bytes",
	  .type = FAMILY_GAUGE,
	  .unit = "bytes",
	  .value = OF(queue_bytes),
	  .labels = labels,
	  .array = EACH,
	  .help = "Bytes that wait for a receiver." },
	{ .name = "kepler_exporter_send_oldest_age_seconds",
	  .type = FAMILY_GAUGE,
	  .unit = "seconds",
	  .value = OF(age_s),
	  .labels = labels,
	  .array = EACH,
	  .help = "Age of the oldest data that wait for a receiver, 0 if none do." },
	{ .name = "kepler_exporter_send_last_success_timestamp_seconds",
	  .type = FAMILY_GAUGE,
	  .unit = "seconds",
	  .value = OF(last_success_s),
	  .labels = labels,
	  .array = EACH,
	  .help = "Time at which a receiver last accepted data. Absent before the first time." },
	{ .name = "kepler_exporter_send_last_status",
	  .type = FAMILY_GAUGE,
	  .value = OF(status),
	  .labels = labels,
	  .array = EACH,
	  .help = "HTTP status of the last response, 0 if the last request had none." },
};

const struct health_part send_health_part = {
	.size = sizeof(struct send_health),
	.fill = fill,
	.metrics = metrics,
	.metric_count = ARRAY_SIZE(metrics),
};
