// SPDX-License-Identifier: Apache-2.0
/*
 * One thread, which may hang with the disk. It writes the newest snapshot when that is due, so a
 * slow disk costs lines, not memory: the counters of the next snapshot make up for them.
 */
#include "export/file/file_exporter.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/thread.h"
#include "export/disk_start.h"
#include "export/file/line_sink.h"
#include "export/file/rotated_file.h"
#include "export/page_cache.h"
#include "export/push_options.h"
#include "export/scrape_pace.h"
#include "snapshot/snapshot_holder.h"

#define PACE_CLIENT       0x66696c65 /* a number that no client of the web server has */
#define STOP_PATIENCE_NS  (1 * NSEC_PER_SEC)
#define START_PATIENCE_NS (5 * NSEC_PER_SEC)    /* on a machine that is busy */
#define HANG_NS           (5 * NSEC_PER_SEC)    /* after that the disk does not respond */
#define NO_SNAPSHOT_NS    (200 * NSEC_PER_MSEC) /* there is none yet: the next look for one */

struct file_counts {
	uint64_t written, lines, errors, rotations;
	bool is_up;
};

struct file_writer {
	/* A copy: a reload frees the struct of the configuration, not what it points to. */
	struct file_options options;
	struct snapshot_holder *holder;
	struct scrape_pace *pace; /* so that new series show 0 for as long as an interval */
	unsigned schemas, levels; /* of the pages; the first changes with a reload */
	void (*start_thread)(void);
	struct rotated_file file;
	char *path; /* the file's */
	struct disk_start opening;
	uint64_t disk_ns; /* when the call began that uses the disk now; 0: none does; atomic */
	bool is_hanging;  /* reported, by the loop's thread */
	struct label_cache *labels;
	struct strbuf block;
	uint64_t block_lines, sequence; /* of the snapshot in the block */
	bool is_csv;
	bool is_failing;           /* atomic */
	struct file_counts counts; /* atomic */
	/* Held while the thread uses services of the program, which ends before a disk responds. */
	pthread_mutex_t lock;
	bool is_ending; /* under the lock: they may not be used any more */
	int stop_fd;
	bool is_running;
	pthread_t thread;
};

static void count(uint64_t *counter, uint64_t more)
{
	(void)__atomic_fetch_add(counter, more, __ATOMIC_RELAXED);
}

/* 1; 0: that snapshot was rendered before, as on a machine that is too busy for its interval. */
static int render(struct file_writer *writer, const struct snapshot *snapshot)
{
	struct catalog_view view = {
		.snapshot = snapshot,
		.start_ms = (int64_t)(snapshot->node.start_time_s * 1000),
		.levels = writer->levels,
	};
	struct line_sink lines;
	int r;

	if (snapshot->sequence == writer->sequence)
		return 0;
	r = label_cache_view(writer->labels, snapshot, view.rows);
	if (r < 0)
		return r;
	writer->sequence = snapshot->sequence;
	strbuf_reset(&writer->block);
	line_sink_init(&lines, writer->is_csv, snapshot->realtime_ms, &writer->block);
	lines.keep = (const char *const *)writer->options.keep;
	lines.keep_count = writer->options.keep_count;
	catalog_walk(&view, __atomic_load_n(&writer->schemas, __ATOMIC_RELAXED), &lines.sink);
	writer->block_lines = lines.lines;
	r = strbuf_error(&writer->block);
	return r < 0 ? r : 1;
}

/* Any call may hang from here on, until disk_is_left(). */
static void disk_is_used(struct file_writer *writer)
{
	__atomic_store_n(&writer->disk_ns, clock_ns(CLOCK_MONOTONIC), __ATOMIC_RELAXED);
}

static void disk_is_left(struct file_writer *writer)
{
	__atomic_store_n(&writer->disk_ns, 0, __ATOMIC_RELAXED);
}

static bool hangs(const struct file_writer *writer, uint64_t now_ns)
{
	uint64_t since_ns = __atomic_load_n(&writer->disk_ns, __ATOMIC_RELAXED);

	return since_ns && now_ns > since_ns + HANG_NS;
}

static void note_result(struct file_writer *writer, int r, const struct diag *diag)
{
	if (r < 0 && !writer->is_failing)
		log_warn("file.path: %s; trying again at each file.interval", diag->text);
	else if (r == 0 && writer->is_failing)
		log_info("file.path: %s is written again", writer->path);
	__atomic_store_n(&writer->is_failing, r < 0, __ATOMIC_RELAXED);
}

static void write_block(struct file_writer *writer)
{
	struct diag diag = { "" };
	int r;

	disk_is_used(writer);
	r = rotated_file_append(&writer->file, writer->block.data ? writer->block.data : "",
				writer->block.len, &diag);
	disk_is_left(writer);
	count(r < 0 ? &writer->counts.errors : &writer->counts.written, 1);
	count(&writer->counts.lines, r < 0 ? 0 : writer->block_lines);
	__atomic_store_n(&writer->counts.rotations, writer->file.rotations, __ATOMIC_RELAXED);
	note_result(writer, r, &diag);
}

/* -EAGAIN: there is no snapshot yet; else as render(). */
static int take_newest(struct file_writer *writer)
{
	const struct snapshot *snapshot = snapshot_get(writer->holder);
	int r;

	if (!snapshot)
		return -EAGAIN;
	r = render(writer, snapshot);
	if (r >= 0 && !writer->is_failing)
		scrape_pace_note(writer->pace, PACE_CLIENT, clock_ns(CLOCK_MONOTONIC),
				 snapshot->monotonic_ns);
	snapshot_put(writer->holder, snapshot);
	return r;
}

/* False: there is no snapshot yet. */
static bool write_newest(struct file_writer *writer)
{
	int r = 0;

	(void)pthread_mutex_lock(&writer->lock);
	if (!writer->is_ending)
		r = take_newest(writer);
	(void)pthread_mutex_unlock(&writer->lock);
	if (r > 0)
		write_block(writer);
	else if (r < 0 && r != -EAGAIN)
		count(&writer->counts.errors, 1);
	return r != -EAGAIN;
}

static void open_file(struct file_writer *writer)
{
	struct diag diag = { "" };
	int r;

	disk_is_used(writer);
	r = rotated_file_open(&writer->file, &diag);
	disk_is_left(writer);
	if (!disk_start_end(&writer->opening, r, &diag))
		note_result(writer, r, &diag);
}

static void *serve(void *userdata)
{
	struct file_writer *writer = userdata;
	struct pollfd stop = { .fd = writer->stop_fd, .events = POLLIN };
	int wait_ms = 0;

	(void)pthread_setname_np(pthread_self(), "file");
	writer->start_thread();
	open_file(writer);
	while (poll(&stop, 1, wait_ms) <= 0) {
		uint64_t wait_ns =
			write_newest(writer) ? writer->options.interval_ns : NO_SNAPSHOT_NS;

		wait_ms = (int)(wait_ns / NSEC_PER_MSEC);
	}
	return NULL;
}

/* ---- start and stop ---- */

static void free_writer(struct file_writer *writer)
{
	rotated_file_close(&writer->file);
	disk_start_release(&writer->opening);
	(void)pthread_mutex_destroy(&writer->lock);
	free(writer->path);
	label_cache_free(writer->labels);
	strbuf_release(&writer->block);
	if (writer->stop_fd >= 0)
		(void)close(writer->stop_fd);
	free(writer);
}

static void stop(void *exporter)
{
	struct file_writer *writer = exporter;

	if (writer->is_running) {
		(void)pthread_mutex_lock(&writer->lock);
		writer->is_ending = true;
		(void)pthread_mutex_unlock(&writer->lock);
		(void)eventfd_write(writer->stop_fd, 1);
		if (thread_join_within(writer->thread, STOP_PATIENCE_NS) < 0)
			return; /* the disk hangs */
	}
	free_writer(writer);
}

/* The writer cannot say itself that it hangs. */
static void turn(void *exporter, uint64_t now_ns)
{
	struct file_writer *writer = exporter;
	bool is_hanging = hangs(writer, now_ns);

	if (is_hanging && !writer->is_hanging)
		log_warn("file.path: the disk of %s does not respond; nothing is written until it "
			 "does",
			 writer->path);
	else if (!is_hanging && writer->is_hanging)
		log_info("file.path: the disk of %s responds", writer->path);
	writer->is_hanging = is_hanging;
}

static void set_pages(void *exporter, const struct page_options *pages)
{
	struct file_writer *writer = exporter;

	__atomic_store_n(&writer->schemas, (unsigned)pages->schema, __ATOMIC_RELAXED);
}

static bool is_wanted(const struct push_options *options)
{
	return *options->file.path;
}

static bool wants_csv(const struct file_options *options)
{
	size_t len = strlen(options->path);

	if (options->format != FILE_AUTO)
		return options->format == FILE_CSV;
	return len > 4 && strcasecmp(options->path + len - 4, ".csv") == 0;
}

static int start_all(struct file_writer *writer, struct diag *diag)
{
	int r = label_cache_new(writer->is_csv ? line_labels_csv : line_labels_json, NAMES_OF_PAGES,
				&writer->labels);

	if (r < 0)
		return diag_set(diag, r, "out of memory");
	writer->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (writer->stop_fd < 0)
		return diag_set(diag, -errno, "file.path: no descriptor is left");
	r = thread_start(&writer->thread, 0, serve, writer);
	if (r < 0)
		return diag_set(diag, r, "file.path: cannot start a thread: %s",
				strerrordesc_np(-r));
	writer->is_running = true;
	r = disk_start_wait(&writer->opening, clock_ns(CLOCK_MONOTONIC) + START_PATIENCE_NS, diag);
	return r == -ETIMEDOUT ? 0 : r;
}

static int start(const struct exporter_program *program, void **ret, struct diag *diag)
{
	const struct file_options *options = &program->push->file;
	struct file_writer *writer;
	int r;

	if (!is_wanted(program->push))
		return 0;
	writer = calloc(1, sizeof(*writer));
	if (!writer)
		return diag_set(diag, -ENOMEM, "out of memory");
	*writer = (struct file_writer){
		.options = *options,
		.holder = program->holder,
		.pace = program->pace,
		.schemas = (unsigned)program->pages->schema,
		.levels = page_levels(program->pages),
		.start_thread = program->start_thread,
		.is_csv = wants_csv(options),
		.path = strdup(options->path),
		.file = { .max_bytes = options->max_bytes,
			  .max_files = options->max_files,
			  .fd = -1 },
		.stop_fd = -1,
	};
	disk_start_init(&writer->opening);
	(void)pthread_mutex_init(&writer->lock, NULL);
	writer->file.head = writer->is_csv ? LINE_HEAD_CSV : "";
	writer->file.path = writer->path;
	r = writer->path ? start_all(writer, diag) : diag_set(diag, -ENOMEM, "out of memory");
	if (r < 0)
		stop(writer);
	else
		*ret = writer;
	return r;
}

static void describe(const void *exporter, char *buf, size_t size)
{
	const struct file_writer *writer = exporter;

	(void)snprintf(buf, size, "%s", writer->path);
}

/* ---- options and health ---- */

static int check_path(const char *text, struct diag *diag)
{
	const char *slash = strrchr(text, '/');

	/* Kepler may write into its folder: that must not be the root. */
	if (*text && (*text != '/' || slash == text || !slash[1]))
		return diag_set(diag, -EINVAL,
				"must be the absolute path of a file, in a folder below /, not "
				"\"%.80s\"",
				text);
	return 0;
}

#define OWN(member) OPTION_MEMBER(struct file_options, member)

static const struct option_choice formats[] = {
	{ "auto", FILE_AUTO }, { "json", FILE_JSON }, { "csv", FILE_CSV }, { 0 }
};

static const struct option options_rows[] = {
	{ "file.path", NULL, OPTION_STRING, OWN(path), .default_text = "", .metavar = "FILE",
	  .may_be_empty = true, .check = check_path,
	  .help = "File to which the metrics are written, a line for each series. Empty: none." },
	{ "file.format", NULL, OPTION_ENUM, OWN(format), .choices = formats, .default_text = "auto",
	  .metavar = "FORMAT",
	  .help = "Format of the lines. json: one object per line; csv; auto: csv if the name of "
		  "the "
		  "file ends with .csv, else json." },
	{ "file.interval", NULL, OPTION_DURATION, OWN(interval_ns),
	  OPTION_RANGE(NSEC_PER_SEC, 24 * 3600 * NSEC_PER_SEC), .default_text = "1m",
	  .metavar = "DURATION", .help = "Time between two snapshots in the file." },
	{ "file.max-size", NULL, OPTION_SIZE, OWN(max_bytes), OPTION_RANGE(64, 2048 * 1024),
	  .default_text = "64MiB", .metavar = "SIZE",
	  .help = "Size at which the file is rotated: FILE becomes FILE.1, FILE.1 becomes "
		  "FILE.2." },
	{ "file.max-files", NULL, OPTION_U32, OWN(max_files), OPTION_RANGE(0, 100),
	  .default_text = "4", .metavar = "NUMBER",
	  .help = "Rotated files that are kept; the oldest one beyond them is removed." },
	{ "file.keep", NULL, OPTION_STRINGS,
	  OPTION_LIST(struct file_options, keep, keep_count, FILE_GLOBS_MAX), .default_text = "",
	  .metavar = "GLOB",
	  .help = "Names of metrics that are written, such as kepler_pod_*. Empty: all." },
};

static bool fill(const void *owner, void *ret)
{
	const struct file_writer *writer = owner;
	struct file_counts *counts = ret;

	counts->written = __atomic_load_n(&writer->counts.written, __ATOMIC_RELAXED);
	counts->lines = __atomic_load_n(&writer->counts.lines, __ATOMIC_RELAXED);
	counts->errors = __atomic_load_n(&writer->counts.errors, __ATOMIC_RELAXED);
	counts->rotations = __atomic_load_n(&writer->counts.rotations, __ATOMIC_RELAXED);
	counts->is_up = !__atomic_load_n(&writer->is_failing, __ATOMIC_RELAXED) &&
			!hangs(writer, clock_ns(CLOCK_MONOTONIC));
	return true;
}

static const struct health_metric metrics[] = {
	{ .name = "kepler_exporter_file_up",
	  .type = FAMILY_GAUGE,
	  .value = HEALTH_VALUE(struct file_counts, is_up),
	  .help = "1 if file.path can be written, 0 if the last snapshot could not be, or the disk "
		  "has not responded for 5 s. The log has the reason." },
	{ .name = "kepler_exporter_file_writes",
	  .type = FAMILY_COUNTER,
	  .value = HEALTH_VALUE(struct file_counts, written),
	  .help = "Snapshots that were written to file.path." },
	{ .name = "kepler_exporter_file_lines",
	  .type = FAMILY_COUNTER,
	  .value = HEALTH_VALUE(struct file_counts, lines),
	  .help = "Lines that were written to file.path." },
	{ .name = "kepler_exporter_file_errors",
	  .type = FAMILY_COUNTER,
	  .value = HEALTH_VALUE(struct file_counts, errors),
	  .help = "Snapshots that could not be written to file.path, as on a full disk. The log "
		  "has the reason." },
	{ .name = "kepler_exporter_file_rotations",
	  .type = FAMILY_COUNTER,
	  .value = HEALTH_VALUE(struct file_counts, rotations),
	  .help = "Rotations of file.path." },
};

static const struct health_part health = {
	.size = sizeof(struct file_counts),
	.fill = fill,
	.metrics = metrics,
	.metric_count = ARRAY_SIZE(metrics),
};

/* The directory of the file; it is the caller's until its thread calls again. */
static const char *folder(const struct push_options *options, size_t index)
{
	static _Thread_local char path[PATH_MAX];
	const char *slash = strrchr(options->file.path, '/');

	if (index > 0)
		return NULL;
	(void)snprintf(path, sizeof(path), "%.*s",
		       slash ? (int)(slash > options->file.path ? slash - options->file.path : 1)
			     : 0,
		       options->file.path);
	return path;
}

const struct exporter_ops file_exporter = {
	.start = start,
	.set_pages = set_pages,
	.describe = describe,
	.stop = stop,
	.turn = turn,
	.health = &health,
	.options = PUSH_OPTIONS(options_rows, file),
	.is_wanted = is_wanted,
	.folder = folder,
};
