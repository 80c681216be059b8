// SPDX-License-Identifier: Apache-2.0
#include "export/remote-write/write_sender.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/num.h"
#include "base/thread.h"
#include "export/remote-write/snappy_block.h"
#include "export/remote-write/write_reader.h"
#include "export/remote-write/write_request.h"
#include "net/http_retry.h"

#define STACK_BYTES (512 * 1024)
#define FIRST_MS    500
#define LONGEST_MS  60000
#define NOTICE_NS   (600 * NSEC_PER_SEC) /* between two lines about the same receiver */

struct write_sender {
	struct write_sender_options given;
	struct push_target *target;
	struct push_answer answer;
	struct strbuf message, block;
	struct write_reader reader; /* for 1.0 */
	struct snappy_writer writer;
	struct http_retry retry;
	bool is_version_1, has_understood_2, has_written_header;
	uint64_t unreadable; /* messages, at least a series each */
	uint64_t notice_ns;  /* when the log may have another line */
	int stop_fd;
	pthread_t thread;
};

/* The result of a request, or of a message. */
enum result { RESULT_DONE, RESULT_LATER, RESULT_REFUSED, RESULT_VERSION_1, RESULT_STOP };

static int64_t now_ms(void)
{
	return (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_MSEC);
}

/* Until the next message they would be memory without use. */
static void release_buffers(struct write_sender *sender)
{
	strbuf_release(&sender->message);
	strbuf_release(&sender->block);
	snappy_writer_release(&sender->writer);
}

/* ---- one request ---- */

static void take_header(void *userdata, const char *name, size_t name_len, const char *value,
			size_t value_len)
{
	static const char *const written[] = { "X-Prometheus-Remote-Write-Samples-Written",
					       "X-Prometheus-Remote-Write-Histograms-Written",
					       "X-Prometheus-Remote-Write-Exemplars-Written" };
	struct write_sender *sender = userdata;

	(void)value;
	(void)value_len;
	for (size_t i = 0; i < ARRAY_SIZE(written); i++)
		sender->has_written_header |= name_len == strlen(written[i]) &&
					      strncasecmp(name, written[i], name_len) == 0;
}

/* A failure: the board has it, and the log from time to time. */
static void notice(struct write_sender *sender, const char *why)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	send_failed(sender->given.counts, why, now_ms());
	if (now_ns < sender->notice_ns)
		return;
	sender->notice_ns = now_ns + NOTICE_NS;
	log_warn("%s: remote write: %s", sender->given.counts->receiver, why);
}

static void set_version(struct write_sender *sender, bool is_version_1)
{
	sender->is_version_1 = is_version_1;
	send_speaks(sender->given.counts, is_version_1 ? "remote write 1.0" : "remote write 2.0");
}

static enum result judge(struct write_sender *sender)
{
	int status = sender->answer.status;
	enum http_outcome outcome = http_retry_outcome(status, HTTP_RETRY_ALL_5XX);
	bool may_fall_back =
		sender->given.options->protocol == REMOTE_WRITE_AUTO && !sender->is_version_1;
	char text[SEND_ERROR_MAX], why[SEND_ERROR_MAX + 32];

	if (may_fall_back && (status == 415 || (status == 400 && !sender->has_understood_2) ||
			      (outcome == HTTP_ACCEPTED && !sender->has_written_header)))
		return RESULT_VERSION_1;
	if (outcome == HTTP_ACCEPTED) {
		sender->has_understood_2 |= !sender->is_version_1;
		return RESULT_DONE;
	}
	push_answer_text(&sender->answer, text, sizeof(text));
	(void)snprintf(why, sizeof(why), "HTTP %d%s%s", status, text[0] ? ": " : "", text);
	notice(sender, why);
	return outcome == HTTP_LATER ? RESULT_LATER : RESULT_REFUSED;
}

static enum result send_block(struct write_sender *sender, const char *block, size_t len)
{
	const struct http_header version = write_request_version(sender->is_version_1);
	struct push_message message = {
		.content_type = write_request_type(sender->is_version_1),
		.content_encoding = "snappy",
		.content = block,
		.content_len = len,
		.headers = &version,
		.header_count = 1,
		.header = take_header,
		.userdata = sender,
	};
	struct diag diag = { "" };
	int r;

	sender->has_written_header = false;
	r = push_target_send(sender->target, &message, &sender->answer, &diag);
	__atomic_store_n(&sender->given.counts->last_status, (uint64_t)sender->answer.status,
			 __ATOMIC_RELAXED);
	if (r == 0)
		return judge(sender);
	if (r == -ECANCELED)
		return RESULT_STOP;
	notice(sender, diag.text);
	return RESULT_LATER;
}

/* ---- one message ---- */

/* False: the program ends. */
static bool wait_ms(const struct write_sender *sender, uint64_t ms)
{
	struct pollfd stop = { .fd = sender->stop_fd, .events = POLLIN };

	return poll(&stop, 1, (int)ms) == 0;
}

/* Sends it until it is neither to be sent again nor to be given up. */
static enum result send_until(struct write_sender *sender, const char *block, size_t len)
{
	for (;;) {
		enum result result = send_block(sender, block, len);
		uint32_t chance = 0;
		struct write_queue_state state;

		if (result != RESULT_LATER) {
			http_retry_succeeded(&sender->retry);
			return result;
		}
		send_count(&sender->given.counts->retries, 1);
		write_queue_state(sender->given.queue, &state);
		(void)!getrandom(&chance, sizeof(chance), GRND_NONBLOCK);
		if (!wait_ms(sender, http_retry_failed(&sender->retry,
						       sender->answer.retry_after_ms, chance)))
			return RESULT_STOP;
		/* Too old or dropped meanwhile: the queue decides what is next. */
		if (now_ms() - state.oldest_ms >
		    (int64_t)(sender->given.options->queue_age_ns / NSEC_PER_MSEC))
			return RESULT_LATER;
	}
}

static void count_result(struct write_sender *sender, enum result result, uint64_t series)
{
	struct send_receiver *counts = sender->given.counts;

	if (result == RESULT_DONE) {
		send_count(&counts->sent, series);
		__atomic_store_n(&counts->last_success_ms, now_ms(), __ATOMIC_RELAXED);
	} else if (result == RESULT_REFUSED) {
		send_count(&counts->refused, series);
	}
}

static enum result send_as_1(struct write_sender *sender)
{
	int count = write_reader_open(&sender->reader, sender->message.data, sender->message.len);

	while (count >= 0) {
		enum result result;
		const char *block;
		size_t len;

		count = write_convert_to_1(&sender->reader, WRITE_SLICE_SERIES, WRITE_SLICE_BYTES,
					   &sender->writer);
		if (count <= 0)
			break;
		block = snappy_writer_finish(&sender->writer, &len);
		result = block ? send_until(sender, block, len) : RESULT_LATER;
		if (result == RESULT_LATER || result == RESULT_STOP)
			return result;
		count_result(sender, result, (uint64_t)count);
	}
	if (count == -EPROTO)
		sender->unreadable++;
	return count == -ENOMEM ? RESULT_LATER : RESULT_DONE;
}

static enum result send_message(struct write_sender *sender, uint32_t series)
{
	enum result result;

	if (sender->is_version_1)
		return send_as_1(sender);
	strbuf_reset(&sender->block);
	if (snappy_block(sender->message.data, sender->message.len, &sender->block) < 0)
		return RESULT_LATER;
	result = send_until(sender, sender->block.data, sender->block.len);
	count_result(sender, result, series);
	if (result != RESULT_VERSION_1)
		return result;
	set_version(sender, true);
	log_info("%s: does not understand remote write 2.0 (HTTP %d): sending 1.0",
		 sender->given.counts->receiver, sender->answer.status);
	return send_as_1(sender);
}

/* ---- the thread ---- */

static void show_queue(const struct write_sender *sender)
{
	struct send_receiver *counts = sender->given.counts;
	struct write_queue_state state;

	write_queue_state(sender->given.queue, &state);
	__atomic_store_n(&counts->dropped_full, state.dropped_full, __ATOMIC_RELAXED);
	__atomic_store_n(&counts->dropped_old, state.dropped_old, __ATOMIC_RELAXED);
	__atomic_store_n(&counts->dropped_damaged, state.dropped_damaged + sender->unreadable,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&counts->disk_errors, state.disk_errors, __ATOMIC_RELAXED);
	__atomic_store_n(&counts->queue_bytes, state.bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&counts->oldest_ms, state.oldest_ms, __ATOMIC_RELAXED);
}

/* False: the program ends. */
static bool wait_for_message(const struct write_sender *sender)
{
	struct pollfd ready[] = {
		{ .fd = sender->stop_fd, .events = POLLIN },
		{ .fd = write_queue_fd(sender->given.queue), .events = POLLIN },
	};
	uint64_t count;

	(void)poll(ready, ARRAY_SIZE(ready), -1);
	(void)!read(ready[1].fd, &count, sizeof(count));
	return !(ready[0].revents & POLLIN);
}

static bool send_all(struct write_sender *sender)
{
	uint32_t series;

	for (;;) {
		int r = write_queue_peek(sender->given.queue, now_ms(), &sender->message, &series);
		enum result result;

		show_queue(sender);
		if (r == 0) {
			release_buffers(sender);
			return true;
		}
		if (r < 0 && !wait_ms(sender, FIRST_MS))
			return false;
		if (r < 0)
			continue;
		result = send_message(sender, series);
		if (result == RESULT_STOP)
			return false;
		if (result != RESULT_LATER)
			write_queue_pop(sender->given.queue);
	}
}

static void *serve(void *userdata)
{
	struct write_sender *sender = userdata;

	(void)pthread_setname_np(pthread_self(), "remote-write");
	sender->given.start_thread();
	while (wait_for_message(sender) && send_all(sender))
		show_queue(sender);
	return NULL;
}

/* ---- start and stop ---- */

static void release(struct write_sender *sender)
{
	push_target_close(sender->target);
	push_answer_release(&sender->answer);
	write_queue_close(sender->given.queue);
	release_buffers(sender);
	write_reader_release(&sender->reader);
	if (sender->stop_fd >= 0)
		(void)close(sender->stop_fd);
	free(sender);
}

int write_sender_start(const struct write_sender_options *options, struct write_sender **ret,
		       struct diag *diag)
{
	struct write_sender *sender = calloc(1, sizeof(*sender));
	int r = 0;

	if (!sender) {
		write_queue_close(options->queue);
		return diag_set(diag, -ENOMEM, "out of memory");
	}
	sender->given = *options;
	set_version(sender, options->options->protocol == REMOTE_WRITE_1);
	sender->retry = (struct http_retry){ .first_ms = FIRST_MS, .max_ms = LONGEST_MS };
	sender->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (sender->stop_fd < 0)
		r = diag_set(diag, -errno, "no descriptor is left");
	if (r == 0)
		r = push_target_open(&options->options->target, options->url, "kepler",
				     sender->stop_fd, &sender->target, diag);
	if (r == 0) {
		r = thread_start(&sender->thread, STACK_BYTES, serve, sender);
		if (r < 0)
			(void)diag_set(diag, r, "cannot start a thread: %s", strerrordesc_np(-r));
	}
	if (r < 0)
		release(sender);
	else
		*ret = sender;
	return r;
}

struct write_queue *write_sender_queue(const struct write_sender *sender)
{
	return sender->given.queue;
}

void write_sender_ask_to_stop(struct write_sender *sender)
{
	const uint64_t one = 1;

	(void)!write(sender->stop_fd, &one, sizeof(one));
}

int write_sender_stop(struct write_sender *sender, uint64_t patience_ns)
{
	int r = thread_join_within(sender->thread, patience_ns);

	if (r == 0)
		release(sender);
	return r;
}
