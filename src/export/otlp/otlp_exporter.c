// SPDX-License-Identifier: Apache-2.0
/*
 * One thread, which sleeps until the newest snapshot is due. It is rendered once, and the same
 * bytes are sent again, with growing delays, until the receiver takes or refuses them, or newer
 * ones are due: counters are cumulative, so that newer values make up for the older ones. Nothing
 * else waits: a receiver that is away, slow or wrong costs one request at a time, of bounded time
 * and size, and is seen in counters.
 */
#include "export/otlp/otlp_exporter.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/param.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/thread.h"
#include "export/gzip_body.h"
#include "export/otlp/otlp_answer.h"
#include "export/otlp/otlp_attributes.h"
#include "export/otlp/otlp_settings.h"
#include "export/otlp/otlp_sink.h"
#include "export/push_options.h"
#include "export/scrape_pace.h"
#include "export/send/send_board.h"
#include "net/http_retry.h"
#include "net/http_url.h"
#include "options/version.h"
#include "service/needs.h"
#include "service/privileges.h"

#define STACK_BYTES      (512 * 1024) /* libcurl's and GnuTLS' calls */
#define REQUEST_MAX      (64U << 20)  /* before compression: the limit of receivers */
#define FIRST_RETRY_MS   1000
#define STOP_PATIENCE_NS (1 * NSEC_PER_SEC)
#define MAX_RETRY_MS     30000
#define NO_SNAPSHOT_NS   (200 * NSEC_PER_MSEC) /* there is none yet: the next look for one */
#define PACE_CLIENT      0x6f746c70            /* a number that no client of the web server has */

/* The request that is on its way, or waits to be sent again. */
struct request {
	struct strbuf plain, packed;
	uint64_t points; /* 0: there is none */
	uint64_t snapshot_ns;
};

struct otlp {
	struct snapshot_holder *holder;
	struct scrape_pace *pace;
	void (*start_thread)(void);
	struct otlp_settings settings;
	struct otlp_target target;
	struct otlp_memory memory;
	struct label_cache *labels;
	struct push_target *receiver;
	struct push_answer answer;
	struct http_retry retry;
	struct send_receiver *counts; /* the board's */
	struct request request;
	char host_id[40];
	bool is_failing; /* and the log has it */
	int stop_fd;
	bool is_running;
	pthread_t thread;
};

static const char *variable(const char *name)
{
	return getenv(name);
}

static int64_t now_ms(void)
{
	return (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_MSEC);
}

/* ---- a request ---- */

static void set_waiting(struct otlp *otlp, uint64_t bytes, int64_t since_ms)
{
	__atomic_store_n(&otlp->counts->queue_bytes, bytes, __ATOMIC_RELAXED);
	__atomic_store_n(&otlp->counts->oldest_ms, since_ms, __ATOMIC_RELAXED);
}

static void end_request(struct otlp *otlp)
{
	otlp->request.points = 0;
	set_waiting(otlp, 0, 0);
}

/* @loss: a counter of the board's. */
static void drop(struct otlp *otlp, uint64_t *loss)
{
	send_count(loss, otlp->request.points);
	end_request(otlp);
}

static const struct strbuf *request_body(const struct otlp *otlp)
{
	return otlp->settings.is_gzip ? &otlp->request.packed : &otlp->request.plain;
}

static int make_target(struct otlp *otlp, const struct snapshot *snapshot)
{
	if (otlp->target.version)
		return 0;
	if (otlp_resource_make(&otlp->settings.environment, snapshot->node.node_name, otlp->host_id,
			       &otlp->target.resource, otlp->target.instance,
			       sizeof(otlp->target.instance)) < 0)
		return -ENOMEM;
	otlp->target.is_delta = otlp->settings.is_delta;
	otlp->target.version = KEPLER_VERSION;
	return 0;
}

static int render(struct otlp *otlp, const struct snapshot *snapshot)
{
	struct catalog_view view = {
		.snapshot = snapshot,
		.levels = otlp->settings.levels,
		.start_ms = (int64_t)(snapshot->node.start_time_s * 1e3),
	};
	struct request *request = &otlp->request;
	int r = make_target(otlp, snapshot);

	if (r == 0)
		r = label_cache_view(otlp->labels, snapshot, view.rows);
	if (r == 0)
		r = otlp_render(&otlp->target, &view, &otlp->memory, &request->plain,
				&request->points);
	if (r == 0 && otlp->settings.is_gzip && request->plain.len <= REQUEST_MAX)
		r = gzip_body(request->plain.data, request->plain.len, &request->packed);
	request->snapshot_ns = snapshot->monotonic_ns;
	return r;
}

/* False: there is no snapshot yet. */
static bool take_snapshot(struct otlp *otlp)
{
	const struct snapshot *snapshot = snapshot_get(otlp->holder);
	int r;

	if (!snapshot)
		return false;
	if (otlp->request.points)
		drop(otlp, &otlp->counts->dropped_replaced);
	r = render(otlp, snapshot);
	if (r == 0)
		set_waiting(otlp, request_body(otlp)->len, snapshot->realtime_ms);
	snapshot_put(otlp->holder, snapshot);
	if (r < 0 || otlp->request.plain.len > REQUEST_MAX)
		drop(otlp, &otlp->counts->dropped_large);
	return true;
}

/* ---- answers ---- */

static void report_failure(struct otlp *otlp, const char *why, enum http_outcome outcome)
{
	if (!otlp->is_failing && outcome == HTTP_REFUSED)
		log_warn("otlp.endpoint: %s; the data are dropped, not sent again: check the URL "
			 "and the credentials (kepler_exporter_send_dropped_samples_total)",
			 why);
	else if (!otlp->is_failing)
		log_warn("otlp.endpoint: %s; retrying (kepler_exporter_send_retries_total)", why);
	otlp->is_failing = true;
	send_failed(otlp->counts, why, now_ms());
}

static void report_success(struct otlp *otlp)
{
	if (otlp->is_failing)
		log_info("otlp.endpoint: %.*s accepts data again",
			 http_url_site_len(otlp->settings.url), otlp->settings.url);
	otlp->is_failing = false;
}

/* A part may be rejected; to send it again is forbidden. */
static void take_success(struct otlp *otlp)
{
	struct request *request = &otlp->request;
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	const struct strbuf *body = &otlp->answer.body;
	struct otlp_answer answer = { 0 };

	if (!otlp->answer.is_cut)
		(void)otlp_answer_read_success(body->data, body->len, &answer); /* else empty */
	answer.rejected = MIN(answer.rejected, request->points);
	if (answer.rejected)
		send_failed(otlp->counts, answer.message[0] ? answer.message : "no reason given",
			    now_ms());
	if (answer.rejected || answer.message[0])
		log_warn("otlp.endpoint: the receiver rejected %llu of %llu data points: %s",
			 (unsigned long long)answer.rejected, (unsigned long long)request->points,
			 answer.message[0] ? answer.message : "no reason given");
	send_count(&otlp->counts->sent, request->points - answer.rejected);
	send_count(&otlp->counts->rejected, answer.rejected);
	__atomic_store_n(&otlp->counts->last_success_ms, now_ms(), __ATOMIC_RELAXED);
	otlp_memory_deliver(&otlp->memory);
	if (!otlp->settings.is_delta)
		scrape_pace_note(otlp->pace, PACE_CLIENT, now_ns, request->snapshot_ns);
	http_retry_succeeded(&otlp->retry);
	report_success(otlp);
	end_request(otlp);
}

static uint32_t chance(void)
{
	uint32_t bits;

	return getrandom(&bits, sizeof(bits), GRND_NONBLOCK) == (ssize_t)sizeof(bits) ? bits : 0;
}

/* The reason, from the answer if it has any. */
static void describe_answer(const struct otlp *otlp, char *buf, size_t size)
{
	const char *url = otlp->settings.url;
	const struct strbuf *body = &otlp->answer.body;
	struct otlp_answer answer = { 0 };
	char text[OTLP_ANSWER_MESSAGE_MAX] = "";

	if (otlp_answer_read_failure(body->data, body->len, &answer) == 0 && answer.message[0])
		(void)snprintf(text, sizeof(text), "%s", answer.message);
	else
		push_answer_text(&otlp->answer, text, sizeof(text));
	(void)snprintf(buf, size, "%.*s: HTTP %d%s%s", http_url_site_len(url), url,
		       otlp->answer.status, text[0] ? ": " : "", text);
}

/* Sends the request. Returns when it may be sent again, 0: it is done with; UINT64_MAX: stop. */
static uint64_t send_request(struct otlp *otlp)
{
	const struct strbuf *body = request_body(otlp);
	const struct push_message message = {
		.content = body->data,
		.content_len = body->len,
		.content_type = "application/x-protobuf",
		.content_encoding = otlp->settings.is_gzip ? "gzip" : NULL,
	};
	struct diag diag = { 0 };
	char why[DIAG_TEXT_MAX];
	enum http_outcome outcome = HTTP_LATER;
	int r = push_target_send(otlp->receiver, &message, &otlp->answer, &diag);

	if (r == -ECANCELED)
		return UINT64_MAX;
	__atomic_store_n(&otlp->counts->last_status, (uint64_t)otlp->answer.status,
			 __ATOMIC_RELAXED);
	if (r == 0)
		outcome = http_retry_outcome(otlp->answer.status, HTTP_RETRY_UNAVAILABLE);
	if (outcome == HTTP_ACCEPTED) {
		take_success(otlp);
		return 0;
	}
	(void)snprintf(why, sizeof(why), "%s", diag.text);
	if (r == 0)
		describe_answer(otlp, why, sizeof(why));
	report_failure(otlp, why, outcome);
	if (outcome == HTTP_REFUSED) {
		drop(otlp, &otlp->counts->refused);
		return 0;
	}
	send_count(&otlp->counts->retries, 1);
	return clock_ns(CLOCK_MONOTONIC) +
	       http_retry_failed(&otlp->retry, r == 0 ? otlp->answer.retry_after_ms : 0, chance()) *
		       NSEC_PER_MSEC;
}

/* ---- the thread ---- */

/* False: the program ends. */
static bool sleep_until(const struct otlp *otlp, uint64_t time_ns)
{
	struct pollfd stop = { .fd = otlp->stop_fd, .events = POLLIN };
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t left_ms = time_ns > now_ns ? (time_ns - now_ns) / NSEC_PER_MSEC + 1 : 0;

	return poll(&stop, 1, (int)MIN(left_ms, (uint64_t)INT32_MAX)) <= 0;
}

static void *serve(void *userdata)
{
	struct otlp *otlp = userdata;
	uint64_t due_ns = clock_ns(CLOCK_MONOTONIC), retry_ns = 0;

	(void)pthread_setname_np(pthread_self(), "otlp");
	otlp->start_thread();
	while (sleep_until(otlp, otlp->request.points ? MIN(due_ns, retry_ns) : due_ns)) {
		uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

		if (now_ns >= due_ns) {
			bool is_taken = take_snapshot(otlp);

			due_ns = now_ns + (is_taken ? otlp->settings.interval_ns : NO_SNAPSHOT_NS);
		}
		if (!otlp->request.points || now_ns < retry_ns)
			continue;
		retry_ns = send_request(otlp);
		if (retry_ns == UINT64_MAX)
			break;
	}
	return NULL;
}

/* ---- start and stop ---- */

static void close_all(struct otlp *otlp)
{
	push_target_close(otlp->receiver);
	push_answer_release(&otlp->answer);
	label_cache_free(otlp->labels);
	otlp_memory_release(&otlp->memory);
	strbuf_release(&otlp->target.resource);
	strbuf_release(&otlp->request.plain);
	strbuf_release(&otlp->request.packed);
	otlp_settings_release(&otlp->settings);
	if (otlp->stop_fd >= 0)
		(void)close(otlp->stop_fd);
	free(otlp);
}

static void stop(void *exporter)
{
	struct otlp *otlp = exporter;
	const uint64_t one = 1;

	if (otlp->is_running) {
		(void)!write(otlp->stop_fd, &one, sizeof(one));
		if (thread_join_within(otlp->thread, STOP_PATIENCE_NS) < 0)
			return; /* a file with a secret or a certificate hangs */
	}
	close_all(otlp);
}

static bool is_wanted(const struct push_options *options)
{
	return otlp_is_wanted(&options->otlp, variable);
}

/* In a container the file is of its image, and says nothing of the machine. */
static void read_host_id(struct otlp *otlp)
{
	ssize_t len = 0;

	if (privileges_runner() != RUN_IN_CONTAINER)
		len = read_file_at(AT_FDCWD, "/etc/machine-id", otlp->host_id,
				   sizeof(otlp->host_id));
	if (len < 0)
		len = 0;
	otlp->host_id[len] = '\0';
	otlp->host_id[strcspn(otlp->host_id, "\n")] = '\0';
}

static int open_all(struct otlp *otlp, struct diag *diag)
{
	int r;

	otlp->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (otlp->stop_fd < 0)
		return diag_set(diag, -errno, "otlp: no descriptor is left");
	if (label_cache_new(otlp_row_form, NAMES_BIT(NAMES_OPENTELEMETRY), &otlp->labels) < 0)
		return diag_set(diag, -ENOMEM, "out of memory");
	r = push_target_open(&otlp->settings.target, otlp->settings.url,
			     "OTel-OTLP-Exporter-Kepler/" KEPLER_VERSION, otlp->stop_fd,
			     &otlp->receiver, diag);
	if (r < 0)
		return r;
	read_host_id(otlp);
	if (otlp->settings.is_gzip)
		(void)gzip_body_load();
	r = thread_start(&otlp->thread, STACK_BYTES, serve, otlp);
	otlp->is_running = r == 0;
	if (r < 0)
		return diag_set(diag, r, "otlp: cannot start a thread: %s", strerrordesc_np(-r));
	return 0;
}

static int enter(struct otlp *otlp, struct send_board *board, struct diag *diag)
{
	otlp->counts = send_board_add(board, otlp->settings.url);
	if (!otlp->counts)
		return diag_set(diag, -ENOSPC, "otlp: more than %d receivers", SEND_RECEIVERS_MAX);
	send_speaks(otlp->counts, "OTLP");
	return 0;
}

static int start(const struct exporter_program *program, void **ret, struct diag *diag)
{
	struct otlp *otlp;
	int r;

	if (!is_wanted(program->push))
		return 0;
	otlp = calloc(1, sizeof(*otlp));
	if (!otlp)
		return diag_set(diag, -ENOMEM, "out of memory");
	*otlp = (struct otlp){
		.holder = program->holder,
		.pace = program->pace,
		.start_thread = program->start_thread,
		.retry = { .first_ms = FIRST_RETRY_MS, .max_ms = MAX_RETRY_MS },
		.stop_fd = -1,
	};
	r = otlp_settings_read(&program->push->otlp, variable, &otlp->settings, diag);
	if (r == 0)
		r = enter(otlp, program->sends, diag);
	if (r == 0)
		r = open_all(otlp, diag);
	if (r < 0)
		close_all(otlp);
	else
		*ret = otlp;
	return r;
}

static void describe(const void *exporter, char *buf, size_t size)
{
	const struct otlp *otlp = exporter;

	(void)snprintf(buf, size, "OTLP to %.*s", http_url_site_len(otlp->settings.url),
		       otlp->settings.url);
}

/* ---- options ---- */

static int check_endpoint(const char *text, struct diag *diag)
{
	return *text ? push_target_check_url(text, diag) : 0;
}

static const struct option_choice temporalities[] = { { "auto", OTLP_TEMPORALITY_AUTO },
						      { "cumulative", OTLP_CUMULATIVE },
						      { "delta", OTLP_DELTA },
						      { 0 } };
static const struct option_choice compressions[] = { { "auto", OTLP_COMPRESSION_AUTO },
						     { "gzip", OTLP_GZIP },
						     { "none", OTLP_NO_COMPRESSION },
						     { 0 } };
/* A word in place of a duration is negative. */
static const struct option_choice intervals[] = { { "auto", -1 }, { 0 } };

static const struct option rows[] = {
	{ "otlp.endpoint", NULL, OPTION_STRING, OPTION_MEMBER(struct otlp_options, endpoint),
	  .default_text = "", .metavar = "URL", .may_be_empty = true, .check = check_endpoint,
	  .help = "Receiver of OpenTelemetry metrics (OTLP over HTTP, protobuf) to which energy is "
		  "sent, such as http://collector:4318; /v1/metrics is added unless the URL ends "
		  "with it. Empty: the URL in OTEL_EXPORTER_OTLP_ENDPOINT or "
		  "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT; if these are not set, nothing is sent." },
	{ "otlp.interval", NULL, OPTION_DURATION, OPTION_MEMBER(struct otlp_options, interval_ns),
	  OPTION_RANGE(NSEC_PER_SEC, 3600 * NSEC_PER_SEC), .choices = intervals,
	  .default_text = "auto", .metavar = "DURATION",
	  .help = "Time between two requests. auto: OTEL_METRIC_EXPORT_INTERVAL, or one minute." },
	{ "otlp.levels", NULL, OPTION_STRINGS,
	  OPTION_LIST(struct otlp_options, levels, level_count, LEVEL_COUNT),
	  .default_text = "container", .metavar = "LEVEL", .check = otlp_check_level,
	  .help = "Levels whose energy is sent: process, container, pod, vm, namespace. Each level "
		  "has all of the energy: do not add up two. The containers, which include "
		  "virtual machines, batch jobs and systemd units, have the attributes of their "
		  "pod." },
	{ "otlp.temporality", NULL, OPTION_ENUM, OPTION_MEMBER(struct otlp_options, temporality),
	  .choices = temporalities, .default_text = "auto", .metavar = "TEMPORALITY",
	  .help = "Whether counters are sent as sums since their start (cumulative) or since the "
		  "last request that was accepted (delta). auto: "
		  "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE, or cumulative." },
	{ "otlp.compression", NULL, OPTION_ENUM, OPTION_MEMBER(struct otlp_options, compression),
	  .choices = compressions, .default_text = "auto", .metavar = "COMPRESSION",
	  .help = "Compression of requests. auto: OTEL_EXPORTER_OTLP_COMPRESSION, or gzip." },
	PUSH_TARGET_ROWS("otlp", struct otlp_options, target),
};

/* Files that variables name are read as well. */
static const char *file(const struct push_options *options, size_t index)
{
	static const char *const variables[] = {
		"OTEL_EXPORTER_OTLP_METRICS_CERTIFICATE",
		"OTEL_EXPORTER_OTLP_METRICS_CLIENT_KEY",
		"OTEL_EXPORTER_OTLP_METRICS_CLIENT_CERTIFICATE",
		"OTEL_EXPORTER_OTLP_CERTIFICATE",
		"OTEL_EXPORTER_OTLP_CLIENT_KEY",
		"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE",
	};
	const char *name;

	if (index < ARRAY_SIZE(variables)) {
		name = variable(variables[index]);
		return name ? name : "";
	}
	return push_target_file(&options->otlp.target, index - ARRAY_SIZE(variables));
}

const struct exporter_ops otlp_exporter = {
	.start = start,
	.describe = describe,
	.stop = stop,
	.options = PUSH_OPTIONS(rows, otlp),
	.is_wanted = is_wanted,
	.needs = NEED_CLIENTS,
	.file = file,
};
