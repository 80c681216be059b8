// SPDX-License-Identifier: Apache-2.0
#include "samples/collection.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/strbuf.h"
#include "samples/collection_progress.h"

#define FLUSH_BYTES  65536
#define REPEATS      6 /* after 1, 2, 4, 8, 16 and 32 s */
#define PATH_SIZE    4096
#define USEC_PER_SEC 1000000
#define ROUNDING_US  1000 /* a Prometheus knows times to the millisecond */

struct collection {
	const struct collect_plan *plan;
	const struct collect_hooks *hooks;
	struct collect_result *result;
	struct collect_progress at;
	const struct collect_range *asked; /* the request that is being answered */
	char part[PATH_SIZE], progress[PATH_SIZE];
	int fd;
	struct strbuf out; /* not written yet */
	uint64_t written;  /* bytes of the file, those in out included */
	bool has_items, has_points;
	int64_t chunk_points;
	struct diag *diag;
};

static int cannot(const struct collection *collection, int err)
{
	return diag_set(collection->diag, err, "%s: cannot be written: %s", collection->part,
			strerrordesc_np(-err));
}

static int flush(struct collection *collection)
{
	size_t done = 0;
	int r = strbuf_error(&collection->out);

	while (r == 0 && done < collection->out.len) {
		ssize_t len = write(collection->fd, collection->out.data + done,
				    collection->out.len - done);

		if (len >= 0)
			done += (size_t)len;
		else if (errno != EINTR)
			r = -errno;
	}
	collection->written += done;
	strbuf_reset(&collection->out);
	return r < 0 ? cannot(collection, r) : 0;
}

static int write_series(void *userdata, const struct series_labels *labels)
{
	struct collection *collection = userdata;
	struct strbuf *out = &collection->out;

	/* The end of the one before is written with the beginning of the next, or of the chunk. */
	strbuf_add_str(out, collection->has_points ? "]}" : "");
	strbuf_add_str(out, collection->has_items ? ",\n" : "\n");
	series_write_labels(labels, out);
	strbuf_add_str(out, ",\"values\":[");
	collection->has_items = collection->has_points = true;
	collection->result->series++;
	return out->len > FLUSH_BYTES && flush(collection) < 0 ? -ECANCELED : 0;
}

/* A point that was not asked for proves that the clock or the server is wrong. */
static bool was_asked_for(const struct collect_range *asked, const struct series_point *point)
{
	return point->time_us >= asked->from_us - ROUNDING_US &&
	       point->time_us <= asked->to_us + ROUNDING_US;
}

static int write_point(void *userdata, const struct series_point *point)
{
	struct collection *collection = userdata;
	struct strbuf *out = &collection->out;
	long long seconds = point->time_us / USEC_PER_SEC;
	int rest_us = (int)(point->time_us % USEC_PER_SEC);

	if (!was_asked_for(collection->asked, point)) {
		collection->result->outside++;
		return 0;
	}
	if (out->len && out->data[out->len - 1] == ']')
		strbuf_add_char(out, ',');
	strbuf_addf(out, "[%lld", seconds);
	if (rest_us)
		strbuf_addf(out, ".%0*d", rest_us % 1000 ? 6 : 3,
			    rest_us % 1000 ? rest_us : rest_us / 1000);
	strbuf_add_str(out, ",\"");
	strbuf_add_json(out, point->text);
	strbuf_add_str(out, "\"]");
	collection->result->points++;
	if (out->len < FLUSH_BYTES)
		return 0;
	/* The bracket that a comma follows stays. */
	out->len--;
	if (flush(collection) < 0)
		return -ECANCELED;
	strbuf_add_char(out, ']');
	return 0;
}

static int save_progress(struct collection *collection)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	int r = fdatasync(collection->fd) < 0 ? -errno : 0;

	if (r == 0)
		r = progress_write(collection->plan, &collection->at, &text);
	if (r == 0)
		r = write_file_atomic(collection->progress, text.data, text.len, 0644);
	return r < 0 ? cannot(collection, r) : 0;
}

/* Discards everything written after the last good chunk. */
static int take_back(struct collection *collection)
{
	strbuf_reset(&collection->out);
	collection->written = collection->at.offset;
	collection->has_items = collection->at.has_items;
	collection->has_points = false;
	if (ftruncate(collection->fd, (off_t)collection->at.offset) < 0 ||
	    lseek(collection->fd, (off_t)collection->at.offset, SEEK_SET) < 0)
		return cannot(collection, -errno);
	return 0;
}

static int query(struct collection *collection, const struct collect_range *range)
{
	const struct series_sink sink = { write_series, write_point, collection };
	const struct collect_result before = *collection->result;
	int r;

	collection->asked = range;
	for (unsigned i = 0;; i++) {
		collection->result->queries++;
		r = collection->hooks->query(collection->hooks->userdata, range, &sink,
					     collection->diag);
		if (r == 0)
			return 0;
		collection->result->series = before.series;
		collection->result->points = before.points;
		collection->result->outside = before.outside;
		if (r == -ECANCELED || take_back(collection) < 0)
			return -EIO;
		if (r != -EAGAIN || i == REPEATS)
			return r;
		collection->result->repeated++;
		r = collection->hooks->wait(collection->hooks->userdata, 1U << i);
		if (r < 0)
			return r;
	}
}

static void tell(const struct collection *collection)
{
	const struct collect_plan *plan = collection->plan;
	double length_us = (double)(plan->end_us - plan->start_us) + (double)plan->step_us;
	double part = (double)(collection->at.from_us - plan->start_us) / length_us;

	if (collection->hooks->progress)
		collection->hooks->progress(
			collection->hooks->userdata, plan->metrics[collection->at.metric],
			((double)collection->at.metric + part) / (double)plan->metric_count);
}

/* One chunk of one metric; the progress is advanced by it. */
static int collect_chunk(struct collection *collection)
{
	const struct collect_plan *plan = collection->plan;
	struct collect_range range = { .metric = plan->metrics[collection->at.metric],
				       .from_us = collection->at.from_us,
				       .step_us = plan->step_us };
	int r;

	do {
		range.to_us = range.from_us + (collection->chunk_points - 1) * plan->step_us;
		if (range.to_us > plan->end_us)
			range.to_us = plan->end_us;
		r = query(collection, &range);
		if (r == -E2BIG)
			collection->chunk_points /= 2;
	} while (r == -E2BIG && collection->chunk_points >= COLLECT_CHUNK_POINTS_MIN);
	if (r < 0)
		return r;
	if (collection->has_points)
		strbuf_add_str(&collection->out, "]}");
	collection->has_points = false;
	collection->at.from_us =
		range.from_us + ((range.to_us - range.from_us) / plan->step_us + 1) * plan->step_us;
	return 0;
}

static int collect_metric(struct collection *collection)
{
	const struct collect_plan *plan = collection->plan;
	int r = 0;

	if (collection->at.from_us == plan->start_us) {
		strbuf_add_str(&collection->out, collection->at.metric ? ",\n\"" : "{\n\"");
		strbuf_add_json(&collection->out, plan->metrics[collection->at.metric]);
		strbuf_add_str(&collection->out, "\": [");
		r = flush(collection);
		collection->at.offset = collection->written;
	}
	while (r == 0 && collection->at.from_us <= plan->end_us) {
		tell(collection);
		r = collect_chunk(collection);
		if (r == 0 && collection->at.from_us > plan->end_us)
			strbuf_add_str(&collection->out, "]");
		if (r == 0)
			r = flush(collection);
		if (r < 0)
			break;
		collection->at.offset = collection->written;
		collection->at.has_items = collection->has_items;
		if (collection->at.from_us <= plan->end_us)
			r = save_progress(collection);
	}
	if (r < 0)
		return r;
	collection->at = (struct collect_progress){ .metric = collection->at.metric + 1,
						    .from_us = plan->start_us,
						    .offset = collection->written };
	collection->has_items = false;
	return save_progress(collection);
}

static bool is_same_plan(const struct collect_plan *a, const struct collect_plan *b)
{
	if (strcmp(a->source, b->source) != 0 || a->start_us != b->start_us ||
	    a->end_us != b->end_us || a->step_us != b->step_us ||
	    a->metric_count != b->metric_count)
		return false;
	for (size_t i = 0; i < a->metric_count; i++) {
		if (strcmp(a->metrics[i], b->metrics[i]) != 0)
			return false;
	}
	return true;
}

/* 1 with the content of FILE.progress, 0 without it. */
static int read_progress(const char *path, struct collect_plan *ret, char **ret_source,
			 struct collect_progress *ret_progress, struct diag *diag)
{
	CLEANUP_FREE char *text = NULL;
	char progress[PATH_SIZE];
	struct diag why = { "" };
	size_t len;
	int r;

	if (snprintf(progress, sizeof(progress), "%s.progress", path) >= (int)sizeof(progress))
		return diag_set(diag, -ENAMETOOLONG, "%.200s…: the name is too long", path);
	r = read_file_alloc(progress, PROGRESS_SIZE_MAX, &text, &len);
	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return diag_set(diag, r, "%s: cannot be read: %s", progress, strerrordesc_np(-r));
	r = progress_parse(text, len, ret, ret_source, ret_progress, &why);
	return r < 0 ? diag_set(diag, r, "%s: %s", progress, why.text) : 1;
}

int collection_find_plan(const char *path, struct collect_plan *ret, char **ret_source,
			 struct diag *diag)
{
	struct collect_progress progress;

	return read_progress(path, ret, ret_source, &progress, diag);
}

static int find_beginning(struct collection *collection, const char *path)
{
	CLEANUP_FREE char *source = NULL;
	struct collect_plan plan = { .source = NULL };
	int r = read_progress(path, &plan, &source, &collection->at, collection->diag);

	if (r == 1 && (!source || !is_same_plan(&plan, collection->plan)))
		r = diag_set(collection->diag, -EINVAL,
			     "%s: belongs to another collection; remove it and %s to start again",
			     collection->progress, collection->part);
	else if (r == 1)
		collection->result->was_resumed = true;
	else if (r == 0)
		collection->at = (struct collect_progress){ .from_us = collection->plan->start_us };
	free(plan.metrics);
	return r < 0 ? r : 0;
}

static int open_files(struct collection *collection, const char *path)
{
	struct stat status;
	int r;

	if (snprintf(collection->part, PATH_SIZE, "%s.part", path) >= PATH_SIZE ||
	    snprintf(collection->progress, PATH_SIZE, "%s.progress", path) >= PATH_SIZE)
		return diag_set(collection->diag, -ENAMETOOLONG, "%.200s…: the name is too long",
				path);
	if (access(path, F_OK) == 0)
		return diag_set(collection->diag, -EEXIST, "%s: already exists; not overwritten",
				path);
	r = find_beginning(collection, path);
	if (r < 0)
		return r;
	collection->fd = open(collection->part, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (collection->fd < 0)
		return cannot(collection, -errno);
	if (fstat(collection->fd, &status) < 0 || (uint64_t)status.st_size < collection->at.offset)
		return diag_set(collection->diag, -EINVAL,
				"%s: shorter than stated in %s; remove both to start again",
				collection->part, collection->progress);
	return take_back(collection);
}

static int finish(struct collection *collection, const char *path)
{
	int r;

	strbuf_add_str(&collection->out, collection->plan->metric_count ? "\n}\n" : "{}\n");
	r = flush(collection);
	if (r < 0)
		return r;
	if (fdatasync(collection->fd) < 0 || rename(collection->part, path) < 0)
		return cannot(collection, -errno);
	/* A leftover file is useless, but harmless. */
	(void)unlink(collection->progress);
	return 0;
}

int collection_run(const char *path, const struct collect_plan *plan,
		   const struct collect_hooks *hooks, struct collect_result *ret, struct diag *diag)
{
	CLEANUP_FREE struct collection *collection = calloc(1, sizeof(*collection));
	struct diag why = { "" };
	int r;

	*ret = (struct collect_result){ 0 };
	if (!collection)
		return diag_set(diag, -ENOMEM, "out of memory");
	collection->plan = plan;
	collection->hooks = hooks;
	collection->result = ret;
	collection->diag = diag ? diag : &why;
	collection->fd = -1;
	collection->chunk_points = COLLECT_CHUNK_POINTS;
	r = open_files(collection, path);
	while (r == 0 && collection->at.metric < plan->metric_count)
		r = collect_metric(collection);
	if (r == 0)
		r = finish(collection, path);
	if (collection->fd >= 0)
		(void)close(collection->fd);
	strbuf_release(&collection->out);
	return r;
}
