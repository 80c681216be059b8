// SPDX-License-Identifier: Apache-2.0
/*
 * One thread walks over a snapshot for all receivers and puts its messages into their queues; each
 * receiver has a thread that sends. So one that is slow or away delays nothing but itself.
 */
#include "export/remote-write/remote_write.h"

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
#include "base/hash.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/num.h"
#include "base/text/ascii.h"
#include "base/thread.h"
#include "export/catalog/catalog_walk.h"
#include "export/page_cache.h"
#include "export/push_options.h"
#include "export/remote-write/snappy_block.h"
#include "export/remote-write/write_ended.h"
#include "export/remote-write/write_handover.h"
#include "export/remote-write/write_sender.h"
#include "export/remote-write/write_turn.h"
#include "export/scrape_pace.h"
#include "net/http_client.h"
#include "service/needs.h"

#define STACK_BYTES       (512 * 1024)
#define STOP_PATIENCE_NS  (1 * NSEC_PER_SEC)
#define WALK_PATIENCE_NS  (5 * NSEC_PER_SEC)
#define START_PATIENCE_NS (5 * NSEC_PER_SEC) /* for all disks; on a machine that is busy */
#define DISK_PATIENCE_NS  (1 * NSEC_PER_SEC) /* once, until it responds again */
#define PACE_CLIENT       0x72777269         /* a number that no client of the web server has */

struct remote_write {
	/* A copy: a reload frees the struct of the configuration, not what it points to. */
	struct remote_write_options options;
	struct snapshot_holder *holder;
	struct scrape_pace *pace; /* so that new series show 0 for as long as a push takes */
	unsigned schemas, levels; /* of the pages; the first changes with a reload */
	void (*start_thread)(void);
	struct write_sink_options sink_options;
	/* Labels of every series: the configured ones; job and instance, unless configured. */
	struct label_pair externals[REMOTE_WRITE_LABELS_MAX + 2];
	char *external_texts[REMOTE_WRITE_LABELS_MAX];
	char instance[64];
	struct label_cache *labels;
	struct write_sink sink;
	struct write_ended ended;
	struct strbuf message;
	bool is_marking;
	int64_t last_ms; /* of the last walk, realtime */
	uint64_t due_ns;
	uint64_t series; /* of this walk */
	struct write_sender *senders[REMOTE_WRITE_URLS_MAX];
	struct write_handover *handovers[REMOTE_WRITE_URLS_MAX]; /* NULL: without a disk */
	struct send_receiver *counts[REMOTE_WRITE_URLS_MAX];
	size_t sender_count;
	int wake_fd, stop_fd; /* the first is the holder's */
	bool is_running;
	pthread_t thread;
};

/* ---- one snapshot ---- */

static int take_batch(void *userdata, const struct write_batch *batch)
{
	struct remote_write *self = userdata;
	int r;

	strbuf_reset(&self->message);
	r = write_batch_finish(batch, &self->message);
	for (size_t i = 0; r == 0 && i < self->sender_count; i++) {
		if (self->handovers[i])
			write_handover_put(self->handovers[i], self->message.data,
					   self->message.len, batch->series_count,
					   self->sink.time_ms);
		else
			write_queue_put(write_sender_queue(self->senders[i]), self->message.data,
					self->message.len, batch->series_count, self->sink.time_ms);
	}
	if (r == 0 && !self->is_marking)
		r = write_ended_keep(&self->ended, batch, &self->message);
	return r;
}

static int walk(struct remote_write *self, const struct snapshot *snapshot)
{
	struct catalog_view view = {
		.snapshot = snapshot,
		.start_ms = (int64_t)(snapshot->node.start_time_s * 1000),
		.levels = self->levels,
	};
	int r = label_cache_view(self->labels, snapshot, view.rows);

	if (r < 0)
		return r;
	if (!self->instance[0])
		(void)snprintf(self->instance, sizeof(self->instance), "%s",
			       snapshot->node.node_name);
	write_sink_begin(&self->sink, snapshot->realtime_ms);
	self->is_marking = false;
	catalog_walk(&view, __atomic_load_n(&self->schemas, __ATOMIC_RELAXED), &self->sink.sink);
	r = write_sink_finish(&self->sink);
	self->is_marking = true;
	if (r == 0)
		r = write_ended_mark(&self->ended, &self->sink);
	if (r == 0)
		r = write_sink_finish(&self->sink);
	write_ended_next(&self->ended);
	return r;
}

/*
 * Until the clock has caught up, a receiver may refuse samples that are older than those that it
 * has: whether it does is its decision. Silence would be wrong for one that does not, and endless
 * after a clock that was wrong by years.
 */
static void note_clock(struct remote_write *self, int64_t now_ms)
{
	log_warn("remote write: the clock was set back by %.0f s; receivers may refuse samples "
		 "until it has caught up",
		 (double)(self->last_ms - now_ms) / 1e3);
	for (size_t i = 0; i < self->sender_count; i++)
		send_count(&self->counts[i]->clock_steps, 1);
}

static void take_snapshot(struct remote_write *self, const struct snapshot *snapshot)
{
	int r;

	switch (write_turn_of(self->last_ms, snapshot->realtime_ms)) {
	case WRITE_TURN_NONE:
		return;
	case WRITE_TURN_BACK:
		note_clock(self, snapshot->realtime_ms);
		break;
	case WRITE_TURN_NEXT:
		break;
	}
	self->last_ms = snapshot->realtime_ms;
	r = walk(self, snapshot);
	if (r < 0)
		log_warn("remote write: a snapshot is not sent: %s", strerrordesc_np(-r));
	else
		scrape_pace_note(self->pace, PACE_CLIENT, clock_ns(CLOCK_MONOTONIC),
				 snapshot->monotonic_ns);
}

static bool is_due(struct remote_write *self)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (now_ns < self->due_ns)
		return false;
	self->due_ns += self->options.interval_ns;
	if (self->due_ns <= now_ns)
		self->due_ns = now_ns + self->options.interval_ns;
	return true;
}

static void handle_wake(struct remote_write *self)
{
	const struct snapshot *snapshot;
	uint64_t count;

	if (read(self->wake_fd, &count, sizeof(count)) < 0 || !is_due(self))
		return;
	snapshot = snapshot_get(self->holder);
	if (snapshot)
		take_snapshot(self, snapshot);
	snapshot_put(self->holder, snapshot);
}

static void *serve(void *userdata)
{
	struct remote_write *self = userdata;
	struct pollfd ready[] = { { .fd = self->stop_fd, .events = POLLIN },
				  { .fd = self->wake_fd, .events = POLLIN } };

	(void)pthread_setname_np(pthread_self(), "remote-write");
	self->start_thread();
	for (;;) {
		if (poll(ready, ARRAY_SIZE(ready), -1) < 0 && errno != EINTR)
			return NULL;
		if (ready[0].revents & POLLIN)
			return NULL;
		handle_wake(self);
	}
}

/* ---- start and stop ---- */

static void stop(void *exporter)
{
	struct remote_write *self = exporter;
	const uint64_t one = 1;
	bool has_ended = true;

	(void)!write(self->stop_fd, &one, sizeof(one));
	for (size_t i = 0; i < self->sender_count; i++) {
		write_handover_ask_to_stop(self->handovers[i]);
		write_sender_ask_to_stop(self->senders[i]);
	}
	/*
	 * It uses services of the program, and therefore ends first. Nothing should keep it waiting
	 * any more, so that it has longer, on a machine that is busy.
	 */
	if (self->is_running && thread_join_within(self->thread, WALK_PATIENCE_NS) < 0)
		return; /* it keeps all that it uses */
	/* Without these threads, nothing is put into the queues that senders free. */
	for (size_t i = 0; has_ended && i < self->sender_count; i++)
		has_ended = write_handover_stop(self->handovers[i], STOP_PATIENCE_NS) == 0;
	for (size_t i = 0; has_ended && i < self->sender_count; i++)
		has_ended = write_sender_stop(self->senders[i], STOP_PATIENCE_NS) == 0;
	if (!has_ended)
		return; /* the disk of the queue hangs, or a file with a secret */
	write_sink_release(&self->sink);
	write_ended_release(&self->ended);
	strbuf_release(&self->message);
	label_cache_free(self->labels);
	for (size_t i = 0; i < ARRAY_SIZE(self->external_texts); i++)
		free(self->external_texts[i]);
	if (self->stop_fd >= 0)
		(void)close(self->stop_fd);
	free(self);
}

static void set_pages(void *exporter, const struct page_options *pages)
{
	struct remote_write *self = exporter;

	__atomic_store_n(&self->schemas, (unsigned)pages->schema, __ATOMIC_RELAXED);
}

static bool is_wanted(const struct push_options *options)
{
	return options->remote_write.url_count > 0;
}

static void add_external(struct remote_write *self, const char *name, const char *value)
{
	size_t count = self->sink_options.external_count;

	for (size_t i = 0; i < count; i++) {
		if (strcmp(self->externals[i].name, name) == 0)
			return;
	}
	self->externals[count] = (struct label_pair){ name, value, false };
	self->sink_options.external_count++;
}

static int take_externals(struct remote_write *self)
{
	for (size_t i = 0; i < self->options.label_count; i++) {
		char *text = strdup(self->options.labels[i]), *equals;

		if (!text)
			return -ENOMEM;
		self->external_texts[i] = text;
		equals = strchr(text, '=');
		*equals = '\0'; /* check_label() has found it */
		add_external(self, text, equals + 1);
	}
	add_external(self, "job", "kepler");
	add_external(self, "instance", self->instance);
	return 0;
}

/* A folder for each URL, whatever their order is at the next start. */
static void queue_folder(const struct remote_write_options *options, const char *url, char *buf,
			 size_t size)
{
	(void)snprintf(buf, size, "%s/%016llx", options->queue_dir,
		       (unsigned long long)hash64_text(HASH64_START, url));
}

/* For the newest sender. */
static int start_handover(struct remote_write *self, const struct exporter_program *program,
			  struct diag *diag)
{
	size_t newest = self->sender_count - 1;
	const struct write_handover_options options = {
		.queue = write_sender_queue(self->senders[newest]),
		.patience_ns = DISK_PATIENCE_NS,
		.counts = self->counts[newest],
		.start_thread = program->start_thread,
	};
	int r = write_handover_start(&options, &self->handovers[newest]);

	return r < 0 ? diag_set(diag, r, "remote write: cannot start a thread: %s",
				strerrordesc_np(-r))
		     : 0;
}

static int start_sender(struct remote_write *self, const struct exporter_program *program,
			const char *url, struct diag *diag)
{
	const struct remote_write_options *options = &self->options;
	char folder[4096];
	const struct write_queue_options queue_options = {
		.folder = options->queue_dir[0] ? folder : NULL,
		.max_bytes = options->queue_bytes,
		.max_age_ms = options->queue_age_ns / NSEC_PER_MSEC,
	};
	struct write_sender_options sender = {
		.url = url,
		.options = options,
		.counts = send_board_add(program->sends, url),
		.start_thread = program->start_thread,
	};
	int r;

	queue_folder(options, url, folder, sizeof(folder));
	if (!sender.counts)
		return diag_set(diag, -ENOSPC, "remote-write.url: too many receivers");
	r = write_queue_open(&queue_options, &sender.queue, diag);
	if (r == 0)
		r = write_sender_start(&sender, &self->senders[self->sender_count], diag);
	if (r < 0)
		return r;
	self->counts[self->sender_count++] = sender.counts;
	return queue_options.folder ? start_handover(self, program, diag) : 0;
}

/* All of them are opened at the same time. */
static int wait_for_disks(struct remote_write *self, struct diag *diag)
{
	uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + START_PATIENCE_NS;
	int r = 0;

	for (size_t i = 0; r == 0 && i < self->sender_count; i++) {
		if (self->handovers[i])
			r = write_handover_wait_open(self->handovers[i], until_ns, diag);
	}
	return r;
}

static int start_all(struct remote_write *self, const struct exporter_program *program,
		     struct diag *diag)
{
	uint32_t chance = 0;
	int r = take_externals(self);

	if (r == 0)
		r = label_cache_new(write_form, NAMES_OF_PAGES, &self->labels);
	if (r < 0)
		return diag_set(diag, r, "out of memory");
	self->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	self->wake_fd = snapshot_wake_open(self->holder);
	if (self->stop_fd < 0 || self->wake_fd < 0)
		return diag_set(diag, -EMFILE, "remote write: no descriptor is left");
	(void)snappy_block_load();
	for (size_t i = 0; r == 0 && i < self->options.url_count; i++)
		r = start_sender(self, program, self->options.urls[i], diag);
	if (r == 0)
		r = wait_for_disks(self, diag);
	if (r < 0)
		return r;
	/* Nodes that start together do not send together. */
	(void)!getrandom(&chance, sizeof(chance), GRND_NONBLOCK);
	self->due_ns = clock_ns(CLOCK_MONOTONIC) +
		       muldiv_u64(self->options.interval_ns, chance, UINT32_MAX);
	r = thread_start(&self->thread, STACK_BYTES, serve, self);
	self->is_running = r == 0;
	return r < 0 ? diag_set(diag, r, "remote write: cannot start a thread: %s",
				strerrordesc_np(-r))
		     : 0;
}

static int start(const struct exporter_program *program, void **ret, struct diag *diag)
{
	struct remote_write *self;
	int r;

	if (!is_wanted(program->push))
		return 0;
	self = calloc(1, sizeof(*self));
	if (!self)
		return diag_set(diag, -ENOMEM, "out of memory");
	self->options = program->push->remote_write;
	self->holder = program->holder;
	self->pace = program->pace;
	self->schemas = (unsigned)program->pages->schema;
	self->levels = page_levels(program->pages);
	self->start_thread = program->start_thread;
	self->stop_fd = self->wake_fd = -1;
	self->sink_options = (struct write_sink_options){
		.keep = self->options.keep,
		.drop = self->options.drop,
		.keep_count = self->options.keep_count,
		.drop_count = self->options.drop_count,
		.externals = self->externals,
	};
	write_sink_init(&self->sink, &self->sink_options);
	self->sink.full = take_batch;
	self->sink.userdata = self;
	r = start_all(self, program, diag);
	if (r < 0)
		stop(self);
	else
		*ret = self;
	return r;
}

static void describe(const void *exporter, char *buf, size_t size)
{
	const struct remote_write *self = exporter;

	(void)snprintf(buf, size, "%s", self->counts[0]->receiver);
}

/* ---- options ---- */

/* Prometheus' name of a label, and a value. */
static int check_label(const char *text, struct diag *diag)
{
	size_t len = 0;

	while (text[len] == '_' || (ascii_is_alnum(text[len]) && (len || !ascii_is_digit(*text))))
		len++;
	if (len == 0 || len > 64 || text[len] != '=' || !text[len + 1])
		return diag_set(diag, -EINVAL,
				"must be NAME=VALUE, such as cluster=eu-1, not \"%.80s\"", text);
	if (text[0] == '_' && text[1] == '_')
		return diag_set(diag, -EINVAL,
				"must not begin with __: Prometheus reserves these names");
	return 0;
}

static int check_folder(const char *text, struct diag *diag)
{
	return !*text || *text == '/'
		       ? 0
		       : diag_set(diag, -EINVAL, "must be an absolute path, not \"%.80s\"", text);
}

static const struct option_choice protocols[] = {
	{ "auto", REMOTE_WRITE_AUTO }, { "1.0", REMOTE_WRITE_1 }, { "2.0", REMOTE_WRITE_2 }, { 0 }
};

#define OWN(member)              OPTION_MEMBER(struct remote_write_options, member)
#define LIST(member, count, max) OPTION_LIST(struct remote_write_options, member, count, max)

static const struct option rows[] = {
	{ "remote-write.url", NULL, OPTION_STRINGS, LIST(urls, url_count, REMOTE_WRITE_URLS_MAX),
	  .default_text = "", .metavar = "URL", .check = push_target_check_url,
	  .help = "Receivers of Prometheus remote write to which all metrics are pushed, such as "
		  "https://prometheus.example/api/v1/write. All have the same credentials." },
	{ "remote-write.interval", NULL, OPTION_DURATION, OWN(interval_ns),
	  OPTION_RANGE(NSEC_PER_SEC, 3600 * NSEC_PER_SEC), .default_text = "15s",
	  .metavar = "DURATION", .help = "Time between two pushes." },
	{ "remote-write.external-labels", NULL, OPTION_STRINGS,
	  LIST(labels, label_count, REMOTE_WRITE_LABELS_MAX), .default_text = "",
	  .metavar = "NAME=VALUE", .check = check_label,
	  .help = "Labels of every pushed series that has none of that name. job=kepler and "
		  "instance=NODE are among them unless they are named here." },
	{ "remote-write.keep", NULL, OPTION_STRINGS, LIST(keep, keep_count, REMOTE_WRITE_GLOBS_MAX),
	  .default_text = "", .metavar = "GLOB",
	  .help = "Names of metrics that are pushed, such as kepler_container_*. Empty: all." },
	{ "remote-write.drop", NULL, OPTION_STRINGS, LIST(drop, drop_count, REMOTE_WRITE_GLOBS_MAX),
	  .default_text = "", .metavar = "GLOB",
	  .help = "Names of metrics that are not pushed, such as kepler_process_*." },
	{ "remote-write.protocol", NULL, OPTION_ENUM, OWN(protocol), .choices = protocols,
	  .default_text = "auto", .metavar = "VERSION",
	  .help = "Version of remote write. auto: 2.0, and 1.0 for receivers that do not "
		  "understand it." },
	{ "remote-write.queue-dir", NULL, OPTION_STRING, OWN(queue_dir), .default_text = "",
	  .metavar = "DIR", .may_be_empty = true, .check = check_folder,
	  .help = "Directory for what receivers have not accepted yet, so that it survives a "
		  "restart and a receiver that is away for long. Empty: 2 MiB in memory." },
	{ "remote-write.queue-size", NULL, OPTION_SIZE, OWN(queue_bytes),
	  OPTION_RANGE(1024, 2048 * 1024), .default_text = "256MiB", .metavar = "SIZE",
	  .help = "Most bytes in remote-write.queue-dir for each receiver. Beyond it the oldest "
		  "are dropped." },
	{ "remote-write.queue-age", NULL, OPTION_DURATION, OWN(queue_age_ns),
	  OPTION_RANGE(60 * NSEC_PER_SEC, 7 * 86400 * NSEC_PER_SEC), .default_text = "2h",
	  .metavar = "DURATION", .help = "Data that are older than this are not sent." },
	PUSH_TARGET_ROWS("remote-write", struct remote_write_options, target),
};

static const char *folder(const struct push_options *options, size_t index)
{
	return index == 0 ? options->remote_write.queue_dir : NULL;
}

static const char *file(const struct push_options *options, size_t index)
{
	return push_target_file(&options->remote_write.target, index);
}

const struct exporter_ops remote_write_exporter = {
	.start = start,
	.set_pages = set_pages,
	.describe = describe,
	.stop = stop,
	.options = PUSH_OPTIONS(rows, remote_write),
	.is_wanted = is_wanted,
	.needs = NEED_CLIENTS,
	.folder = folder,
	.file = file,
};
