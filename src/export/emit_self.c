// SPDX-License-Identifier: Apache-2.0
/*
 * What Kepler says of itself: build, cost, health. Counters here start with the program. Most rows
 * of the table are an offset into struct snapshot_self or struct http_stats and one of the three
 * readers below.
 */
#include <string.h>

#include "base/num.h"
#include "export/render.h"

static const void *self_at(const struct render *render, unsigned offset)
{
	return (const char *)&render->snapshot->self + offset;
}

void emit_self_u64(struct render *render, const struct metric *metric)
{
	uint64_t value;

	memcpy(&value, self_at(render, metric->detail), sizeof(value));
	sample_begin(&render->w);
	sample_end(&render->w, value, 0, render->start_ms);
}

void emit_self_double(struct render *render, const struct metric *metric)
{
	double value;

	memcpy(&value, self_at(render, metric->detail), sizeof(value));
	sample_begin(&render->w);
	sample_end_double(&render->w, value, render->start_ms);
}

void emit_self_bool(struct render *render, const struct metric *metric)
{
	bool value;

	memcpy(&value, self_at(render, metric->detail), sizeof(value));
	sample_begin(&render->w);
	sample_end(&render->w, value, 0, render->start_ms);
}

static const char *build_arch(void)
{
#if defined(__x86_64__)
	return "amd64";
#elif defined(__aarch64__)
	return "arm64";
#else
	return "other";
#endif
}

static void build_labels(struct render *render)
{
	const struct snapshot_self *self = &render->snapshot->self;

	sample_begin(&render->w);
	sample_label(&render->w, "arch", build_arch());
	sample_label(&render->w, "branch", self->branch);
	sample_label(&render->w, "revision", self->revision);
	sample_label(&render->w, "version", self->version);
}

void emit_build_info(struct render *render, const struct metric *metric)
{
	(void)metric;
	build_labels(render);
	sample_label(&render->w, "os", "linux");
	sample_end(&render->w, 1, 0, 0);
}

void emit_current_build_info(struct render *render, const struct metric *metric)
{
	(void)metric;
	build_labels(render);
	sample_end(&render->w, 1, 0, 0);
}

void emit_activity_info(struct render *render, const struct metric *metric)
{
	(void)metric;
	sample_begin(&render->w);
	sample_label(&render->w, "reader", render->snapshot->self.activity_reader);
	sample_end(&render->w, 1, 0, 0);
}

/* A histogram as the emitters see it; a label of its own, or NULL. */
struct histogram {
	const char *label, *label_value;
	const double *bounds;   /* unused ones at the end are 0 */
	const uint64_t *counts; /* one a bound, not cumulative */
	size_t bound_count;
	uint64_t count; /* all, what is above the last bound included */
	double sum_s;
};

static void histogram_label(struct strbuf *out, const char *before, const char *name,
			    const char *value)
{
	strbuf_add_str(out, before);
	strbuf_add_str(out, name);
	strbuf_add(out, "=\"", 2);
	strbuf_add_str(out, value);
	strbuf_add_char(out, '"');
}

static void histogram_name(struct render *render, const struct histogram *histogram,
			   const char *suffix, const char *le)
{
	struct strbuf *out = render->w.out;

	strbuf_add_str(out, render->w.family);
	strbuf_add_str(out, suffix);
	if (histogram->label)
		histogram_label(out, "{", histogram->label, histogram->label_value);
	if (le)
		histogram_label(out, histogram->label ? "," : "{", "le", le);
	if (histogram->label || le)
		strbuf_add_char(out, '}');
	strbuf_add_char(out, ' ');
}

static void histogram_line(struct render *render, const struct histogram *histogram,
			   const char *suffix, const char *le, uint64_t value)
{
	histogram_name(render, histogram, suffix, le);
	strbuf_add_u64(render->w.out, value);
	strbuf_add_char(render->w.out, '\n');
}

static void histogram_tail(struct render *render, const struct histogram *histogram)
{
	struct strbuf *out = render->w.out;
	char digits[FORMAT_DOUBLE_MAX];

	histogram_name(render, histogram, "_sum", NULL);
	strbuf_add(out, digits, format_double(digits, histogram->sum_s));
	strbuf_add_char(out, '\n');
	histogram_line(render, histogram, "_count", NULL, histogram->count);
	if (!render->w.created)
		return;
	histogram_name(render, histogram, "_created", NULL);
	strbuf_add(out, digits, format_created(digits, render->start_ms));
	strbuf_add_char(out, '\n');
}

/*
 * Canonical numbers: OpenMetrics wants "1.0" where the text format has "1". Unused buckets at the
 * end have the bound 0.
 */
static void histogram_lines(struct render *render, const struct histogram *histogram)
{
	uint64_t cumulative = 0;

	for (size_t i = 0; i < histogram->bound_count && histogram->bounds[i] > 0; i++) {
		char le[FORMAT_DOUBLE_MAX + 3];
		size_t len = format_double(le, histogram->bounds[i]);

		le[len] = '\0';
		if (strcmp(le, "+Inf") == 0)
			break;
		if (render->w.exposition == EXPOSITION_OPENMETRICS && !strpbrk(le, ".eEn"))
			memcpy(le + len, ".0", 3);
		cumulative += histogram->counts[i];
		histogram_line(render, histogram, "_bucket", le, cumulative);
	}
	histogram_line(render, histogram, "_bucket", "+Inf", histogram->count);
	histogram_tail(render, histogram);
}

void emit_interval_histogram(struct render *render, const struct metric *metric)
{
	const struct snapshot_self *self = &render->snapshot->self;
	const struct histogram histogram = {
		.bounds = self->interval_buckets_le,
		.counts = self->interval_bucket_counts,
		.bound_count = SNAPSHOT_HISTOGRAM_BUCKETS,
		.count = self->interval_count,
		.sum_s = self->interval_sum_s,
	};

	(void)metric;
	family_head(&render->w);
	histogram_lines(render, &histogram);
}

/* A step that was never taken has no series. */
void emit_step_histogram(struct render *render, const struct metric *metric)
{
	const struct snapshot_self *self = &render->snapshot->self;

	(void)metric;
	for (size_t i = 0; i < SNAPSHOT_STEPS; i++) {
		const struct snapshot_step *step = &self->steps[i];
		const struct histogram histogram = {
			.label = "step",
			.label_value = step->name,
			.bounds = self->step_buckets_le,
			.counts = step->bucket_counts,
			.bound_count = SNAPSHOT_STEP_BUCKETS,
			.count = step->count,
			.sum_s = step->sum_s,
		};

		if (!step->count)
			continue;
		family_head(&render->w);
		histogram_lines(render, &histogram);
	}
}

void emit_folded(struct render *render, const struct metric *metric)
{
	(void)metric;
	for (enum snapshot_level level = 0; level < LEVEL_COUNT; level++) {
		sample_begin(&render->w);
		sample_label(&render->w, "level", snapshot_level_name(level));
		sample_end(&render->w, render->snapshot->level[level].folded, 0, render->start_ms);
	}
}

static void labelled_counter(struct render *render, const char *label, const char *value,
			     uint64_t count)
{
	sample_begin(&render->w);
	sample_label(&render->w, label, value);
	sample_end(&render->w, count, 0, render->start_ms);
}

void emit_table_overflows(struct render *render, const struct metric *metric)
{
	static const char *const tables[] = { "pods", "vms", "namespaces" };
	const struct snapshot_self *self = &render->snapshot->self;

	(void)metric;
	labelled_counter(render, "table", "processes", self->process_overflows);
	labelled_counter(render, "table", "containers", self->container_overflows);
	labelled_counter(render, "table", "machines", self->machine_overflows);
	for (enum snapshot_level level = LEVEL_POD; level < LEVEL_COUNT; level++)
		labelled_counter(render, "table", tables[level - LEVEL_POD],
				 render->snapshot->level[level].overflows);
}

void emit_reloads(struct render *render, const struct metric *metric)
{
	const struct snapshot_self *self = &render->snapshot->self;

	(void)metric;
	labelled_counter(
		render, "result", "success",
		self->reloads > self->reload_failures ? self->reloads - self->reload_failures : 0);
	labelled_counter(render, "result", "failure", self->reload_failures);
	labelled_counter(render, "result", "merged", self->reloads_merged);
}

void emit_snapshot_sequence(struct render *render, const struct metric *metric)
{
	(void)metric;
	sample_begin(&render->w);
	sample_end(&render->w, render->snapshot->sequence, 0, render->start_ms);
}

void emit_snapshot_timestamp(struct render *render, const struct metric *metric)
{
	(void)metric;
	sample_begin(&render->w);
	sample_end(&render->w, (uint64_t)render->snapshot->realtime_ms, 3, 0);
}

void emit_http_requests(struct render *render, const struct metric *metric)
{
	static const char *const classes[] = { NULL, "1xx", "2xx", "3xx", "4xx", "5xx" };

	(void)metric;
	if (!render->http)
		return;
	for (int i = 2; i < 6; i++)
		labelled_counter(render, "code", classes[i], render->http->requests[i]);
}

/* detail: the first of three reasons in enum http_cut. */
void emit_http_cuts(struct render *render, const struct metric *metric)
{
	static const char *const reasons[HTTP_CUT_COUNT] = { "request", "answer", "stalled",
							     "silent",  "slow",   "old_page" };

	if (!render->http)
		return;
	for (unsigned i = metric->detail; i < metric->detail + 3; i++)
		labelled_counter(render, "reason", reasons[i], render->http->cuts[i]);
}

/* detail: offset of a uint64_t in struct http_stats. */
void emit_http_u64(struct render *render, const struct metric *metric)
{
	uint64_t value;

	if (!render->http)
		return;
	memcpy(&value, (const char *)render->http + metric->detail, sizeof(value));
	sample_begin(&render->w);
	sample_end(&render->w, value, 0, render->start_ms);
}

void emit_start_time(struct render *render, const struct metric *metric)
{
	(void)metric;
	sample_begin(&render->w);
	sample_end(&render->w, render->start_ms > 0 ? (uint64_t)render->start_ms : 0, 3, 0);
}
