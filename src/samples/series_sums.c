// SPDX-License-Identifier: Apache-2.0
#include "samples/series_sums.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/macro.h"
#include "base/map.h"
#include "samples/sample_table.h"

#define SERIES_MAX        (1U << 21)
#define OWNERS_MAX        (1U << 20)
#define NODES_MAX         16
#define OWNERS_MEMORY_MAX (1024U * 1024 * 1024) /* bytes of amounts by owner */
#define OWNER_NAME_MAX    512
#define OWNER_NONE        UINT32_MAX

struct tracked_series {
	struct counter_points points;
	enum metric_subject subject;
	uint32_t place; /* an account, or a feature */
	uint32_t cover, owner;
	double factor;
	bool background;
};

struct summation {
	const struct extract_options *options;
	struct series_sums *sums;
	struct diag *diag;
	/* First pass. */
	char nodes[NODES_MAX][SAMPLE_NAME_MAX];
	size_t node_count;
	char seen_sources[8][SAMPLE_NAME_MAX];
	size_t seen_source_count;
	/* Second pass. */
	struct map by_labels, by_cover, by_owner;
	struct tracked_series *series;
	size_t series_count, series_size;
	struct grid_cover *covers;
	size_t cover_count, cover_size;
	size_t memory;    /* bytes of amounts by owner */
	uint32_t current; /* the series of the next points */
	bool has_current;
};

static int no_memory(struct summation *work)
{
	return diag_set(work->diag, -ENOMEM, "out of memory");
}

/* Does not depend on the order of the labels, and includes the labels of the scrape. */
static struct map_key labels_key(const struct series_labels *labels)
{
	struct map_key key = { 0 };

	for (size_t i = 0; i < labels->count; i++) {
		uint64_t hash =
			hash64_text(hash64_byte(hash64_text(HASH64_START, labels->name[i]), '\0'),
				    labels->value[i]);

		key.hi += hash;
		key.lo += hash64_text(hash ^ 0x9e3779b97f4a7c15ULL, labels->value[i]) * (hash | 1);
	}
	return key;
}

static bool is_of_node(const struct summation *work, const struct series_labels *labels)
{
	static const char *const names[] = { "instance", "exported_instance", "node_name" };
	const char *node = work->options->node;

	if (!*node || strcmp(node, "any") == 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(series_label(labels, names[i]), node) == 0)
			return true;
	}
	return false;
}

/* The place of a source among the wanted ones; -1: it is not wanted. */
static int source_order(const struct summation *work, const char *source)
{
	for (size_t i = 0; i < work->options->source_count; i++) {
		if (metric_source_matches(source, work->options->sources[i]))
			return (int)i;
	}
	return -1;
}

static void note_text(char (*texts)[SAMPLE_NAME_MAX], size_t *count, size_t max, const char *text)
{
	for (size_t i = 0; i < *count; i++) {
		if (strcmp(texts[i], text) == 0)
			return;
	}
	if (*count == max)
		return;
	(void)snprintf(texts[*count], SAMPLE_NAME_MAX, "%.*s", SAMPLE_NAME_MAX - 1, text);
	(*count)++;
}

/* ---- the first pass: steps ---- */

static int begin_steps(void *userdata, const struct series_labels *labels)
{
	struct summation *work = userdata;
	const char *source = series_label(labels, "source");
	struct metric_kind kind;

	metric_kind_find(labels, work->options->level, &kind);
	work->has_current = false;
	if (kind.subject != METRIC_POWER || !is_of_node(work, labels))
		return 0;
	note_text(work->seen_sources, &work->seen_source_count, ARRAY_SIZE(work->seen_sources),
		  *source ? source : "(none)");
	if (source_order(work, source) < 0)
		return 0;
	note_text(work->nodes, &work->node_count, NODES_MAX, series_label(labels, "instance"));
	work->has_current = true;
	return 0;
}

static int take_step(void *userdata, const struct series_point *point)
{
	struct summation *work = userdata;
	int r;

	if (!work->has_current || isnan(point->value))
		return 0;
	/* All series have the same times, so duplicates are removed before the list is full. */
	if (work->sums->grid.edge_count >= 2 * GRID_EDGES_MAX / 3)
		grid_finish(&work->sums->grid);
	r = grid_add_edge(&work->sums->grid, point->time_us);
	if (r == -ENOSPC)
		return diag_set(work->diag, r, "more than %u points in time: extract a part",
				GRID_EDGES_MAX);
	return r < 0 ? no_memory(work) : 0;
}

static void list(struct strbuf *out, char (*texts)[SAMPLE_NAME_MAX], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		strbuf_add_str(out, i ? ", " : "");
		strbuf_add_json(out, texts[i]); /* fit for a terminal */
	}
}

static int check_steps(struct summation *work)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	if (work->node_count > 1 && !*work->options->node) {
		list(&text, work->nodes, work->node_count);
		return diag_set(work->diag, -EINVAL,
				"the power of %zu instances (%.300s): choose one with --node, or "
				"--node=any if they are one machine with several addresses",
				work->node_count, text.data ? text.data : "");
	}
	if (grid_steps(&work->sums->grid))
		return 0;
	list(&text, work->seen_sources, work->seen_source_count);
	return diag_set(work->diag, -ENODATA,
			"no power of %s%s: the series have %.300s; choose with energy-source",
			work->options->source_count ? work->options->sources[0] : "any source",
			work->options->source_count > 1 ? " or the other sources" : "",
			text.data ? text.data : "no node energy at all");
}

/* ---- the second pass: values ---- */

static int new_amounts(const struct summation *work, double **ret)
{
	*ret = *ret ? *ret : calloc(grid_steps(&work->sums->grid) + 1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

/* Sizes of memory are levels, although exporters name them as counters. */
static enum points_kind kind_of_points(const struct metric_kind *kind)
{
	if (kind->is_gauge)
		return POINTS_LEVEL;
	return strstr(kind->name, "memory") && strstr(kind->name, "bytes") ? POINTS_SIZE
									   : POINTS_COUNTER;
}

static int find_column(struct summation *work, const struct metric_kind *kind, bool background)
{
	struct feature_sums *column = NULL;

	for (size_t i = 0; i < work->sums->feature_count && !column; i++) {
		if (strcmp(work->sums->features[i].name, kind->name) == 0 &&
		    work->sums->features[i].rank == kind->rank)
			column = &work->sums->features[i];
	}
	if (!column && work->sums->feature_count == EXTRACT_FEATURES_MAX)
		return diag_set(work->diag, -ENOSPC, "more than %d features", EXTRACT_FEATURES_MAX);
	if (!column) {
		column = &work->sums->features[work->sums->feature_count++];
		*column = (struct feature_sums){ .rank = kind->rank, .kind = kind_of_points(kind) };
		(void)snprintf(column->name, sizeof(column->name), "%s", kind->name);
	}
	if (new_amounts(work, &column->amounts[background]) < 0)
		return no_memory(work);
	return (int)(column - work->sums->features);
}

static int find_owner(struct summation *work, const char *name, uint32_t *ret)
{
	const struct map_key key = { hash64_text(HASH64_START, name),
				     hash64_text(~HASH64_START, name) };
	struct strbuf *names = &work->sums->owner_names;
	struct owner_sums *owner;

	*ret = map_find(&work->by_owner, key);
	if (*ret != MAP_NONE)
		return 0;
	if (ARRAY_RESERVE(work->sums->owners, work->sums->owner_size, work->sums->owner_count + 1) <
		    0 ||
	    map_put(&work->by_owner, key, (uint32_t)work->sums->owner_count) < 0)
		return no_memory(work);
	owner = &work->sums->owners[work->sums->owner_count];
	*owner = (struct owner_sums){ .name_at = names->len };
	owner->background = work->options->is_background &&
			    work->options->is_background(work->options->userdata, name);
	strbuf_add(names, name, strlen(name) + 1);
	*ret = (uint32_t)work->sums->owner_count++;
	return strbuf_error(names) < 0 ? no_memory(work) : 0;
}

/* The times that were counted for a subject; a series under new labels continues the old one. */
static int find_cover(struct summation *work, const struct tracked_series *series, uint32_t *ret)
{
	const struct map_key key = { (uint64_t)series->subject << 32 | series->place,
				     series->owner };

	*ret = map_find(&work->by_cover, key);
	if (*ret != MAP_NONE)
		return 0;
	if (ARRAY_RESERVE(work->covers, work->cover_size, work->cover_count + 1) < 0 ||
	    map_put(&work->by_cover, key, (uint32_t)work->cover_count) < 0)
		return no_memory(work);
	work->covers[work->cover_count] = (struct grid_cover){ .count = 0 };
	*ret = (uint32_t)work->cover_count++;
	return 0;
}

static int begin_power(struct summation *work, const struct series_labels *labels,
		       const struct metric_kind *kind, struct tracked_series *series)
{
	int order = source_order(work, series_label(labels, "source"));
	int index;

	if (order < 0) {
		series->subject = METRIC_IGNORED;
		return 0;
	}
	index = power_accounts_find(&work->sums->power, kind, metric_package(labels),
				    strcmp(series_label(labels, "mode"), "idle") == 0,
				    (unsigned)order * 4 + kind->rank,
				    grid_steps(&work->sums->grid));
	if (index == -ENOSPC)
		return diag_set(work->diag, index, "more than %d series of the node's energy",
				POWER_ACCOUNTS_MAX);
	if (index < 0)
		return no_memory(work);
	series->place = (uint32_t)index;
	return 0;
}

static int begin_feature(struct summation *work, const struct series_labels *labels,
			 const struct metric_kind *kind, struct tracked_series *series)
{
	char name[OWNER_NAME_MAX];
	int r;

	metric_owner(labels, work->options->level, name, sizeof(name));
	r = find_owner(work, name, &series->owner);
	if (r < 0)
		return r;
	series->background = work->sums->owners[series->owner].background;
	r = find_column(work, kind, series->background);
	if (r < 0)
		return r;
	series->place = (uint32_t)r;
	return find_cover(work, series, &series->cover);
}

/* The sums of a fact of the whole node; NULL: the subject is not such a fact. */
static struct feature_sums *fact_of(struct summation *work, enum metric_subject subject)
{
	if (subject == METRIC_FREQUENCY)
		return &work->sums->frequency;
	if (subject == METRIC_STEAL)
		return &work->sums->steal;
	return subject == METRIC_NODE_TYPE ? &work->sums->node_type : NULL;
}

static int begin_fact(struct summation *work, const struct series_labels *labels,
		      struct feature_sums *column, struct tracked_series *series)
{
	series->owner = (uint32_t)hash64_text(HASH64_START, series_label(labels, "cpu"));
	if (new_amounts(work, &column->amounts[0]) < 0 || new_amounts(work, &column->covered) < 0)
		return no_memory(work);
	return find_cover(work, series, &series->cover);
}

static int begin_series(struct summation *work, const struct series_labels *labels,
			struct tracked_series *series)
{
	struct feature_sums *fact;
	struct metric_kind kind;

	metric_kind_find(labels, work->options->level, &kind);
	*series = (struct tracked_series){ .subject = kind.subject,
					   .factor = kind.factor,
					   .owner = OWNER_NONE };
	if (kind.subject == METRIC_IGNORED || !is_of_node(work, labels)) {
		series->subject = METRIC_IGNORED;
		return 0;
	}
	if (kind.subject == METRIC_POWER)
		return begin_power(work, labels, &kind, series);
	fact = fact_of(work, kind.subject);
	if (fact)
		return begin_fact(work, labels, fact, series);
	return begin_feature(work, labels, &kind, series);
}

static int begin_values(void *userdata, const struct series_labels *labels)
{
	struct summation *work = userdata;
	struct map_key key = labels_key(labels);
	struct tracked_series series;
	int r;

	work->has_current = true;
	work->sums->series++;
	work->current = map_find(&work->by_labels, key);
	if (work->current != MAP_NONE)
		return 0; /* the next part of a known series */
	r = begin_series(work, labels, &series);
	if (r < 0)
		return r;
	if (series.subject == METRIC_IGNORED) {
		work->has_current = false;
		return 0;
	}
	if (ARRAY_RESERVE(work->series, work->series_size, work->series_count + 1) < 0)
		return no_memory(work);
	r = map_put(&work->by_labels, key, (uint32_t)work->series_count);
	if (r == -ENOSPC)
		return diag_set(work->diag, r, "more than %u series", SERIES_MAX);
	if (r < 0)
		return no_memory(work);
	work->current = (uint32_t)work->series_count;
	work->series[work->series_count++] = series;
	return 0;
}

/* The owner's own amounts, in addition to the sum, for rows by owner. NULL without memory. */
static double *owner_amounts(struct summation *work, const struct tracked_series *series)
{
	struct owner_sums *owner = &work->sums->owners[series->owner];
	size_t bytes = (grid_steps(&work->sums->grid) + 1) * sizeof(double);

	if (!owner->amounts)
		owner->amounts = calloc(EXTRACT_FEATURES_MAX, sizeof(*owner->amounts));
	if (!owner->amounts || owner->amounts[series->place])
		return owner->amounts ? owner->amounts[series->place] : NULL;
	if (work->memory + bytes > OWNERS_MEMORY_MAX)
		return NULL;
	work->memory += bytes;
	owner->amounts[series->place] = calloc(1, bytes);
	return owner->amounts[series->place];
}

static int spread(struct summation *work, const struct tracked_series *series,
		  const struct points_flow *flow, double *amounts, double *covered, double *own)
{
	struct grid_part parts[COVER_PARTS_MAX + 1];
	double length = (double)(flow->to_us - flow->from_us);
	size_t count =
		grid_cover_add(&work->covers[series->cover], flow->from_us, flow->to_us, parts);

	work->sums->duplicates += count == 0;
	for (size_t i = 0; i < count; i++) {
		double amount = flow->amount * series->factor *
				((double)(parts[i].to_us - parts[i].from_us) / length);

		grid_spread(&work->sums->grid, parts[i].from_us, parts[i].to_us, amount, amounts,
			    covered);
		if (own)
			grid_spread(&work->sums->grid, parts[i].from_us, parts[i].to_us, amount,
				    own, NULL);
	}
	return 0;
}

static int book_feature(struct summation *work, const struct tracked_series *series,
			const struct points_flow *flow)
{
	double *own = NULL;

	if (work->options->by_owner) {
		own = owner_amounts(work, series);
		if (!own)
			return diag_set(work->diag, -ENOSPC,
					"rows by owner need more than %u MiB: extract a shorter "
					"time",
					OWNERS_MEMORY_MAX >> 20);
	}
	return spread(work, series, flow,
		      work->sums->features[series->place].amounts[series->background], NULL, own);
}

static int book(struct summation *work, const struct tracked_series *series,
		const struct points_flow *flow)
{
	struct feature_sums *fact = fact_of(work, series->subject);

	switch (series->subject) {
	case METRIC_POWER:
		power_accounts_add(&work->sums->power, series->place, &work->sums->grid,
				   flow->from_us, flow->to_us, flow->amount * series->factor);
		return 0;
	case METRIC_FEATURE:
		return book_feature(work, series, flow);
	case METRIC_FREQUENCY:
	case METRIC_NODE_TYPE:
	case METRIC_STEAL:
		return spread(work, series, flow, fact->amounts[0], fact->covered, NULL);
	case METRIC_IGNORED:
		break;
	}
	return 0;
}

static enum points_kind kind_of_series(const struct summation *work,
				       const struct tracked_series *series)
{
	if (series->subject == METRIC_FEATURE)
		return work->sums->features[series->place].kind;
	if (series->subject == METRIC_STEAL)
		return POINTS_COUNTER;
	if (series->subject != METRIC_POWER)
		return POINTS_LEVEL;
	return work->sums->power.accounts[series->place].order % 4 == 2 ? POINTS_LEVEL
									: POINTS_ENERGY;
}

/* The usual step of a series: the step of the power or its own, whichever is longer. */
static int64_t usual_step(struct summation *work, const struct tracked_series *series,
			  int64_t time_us)
{
	int64_t since_us = time_us - series->points.last_us;
	struct feature_sums *column;

	if (series->subject != METRIC_FEATURE || !series->points.has_last || since_us <= 0)
		return work->sums->step_us;
	column = &work->sums->features[series->place];
	if (!column->step_us || since_us < column->step_us)
		column->step_us = since_us;
	return column->step_us > work->sums->step_us ? column->step_us : work->sums->step_us;
}

static int take_value(void *userdata, const struct series_point *point)
{
	struct summation *work = userdata;
	struct tracked_series *series;
	struct points_flow flow;
	int64_t step_us;

	if (!work->has_current)
		return 0;
	series = &work->series[work->current];
	work->sums->points++;
	step_us = usual_step(work, series, point->time_us);
	if (!counter_points_take(&series->points, kind_of_series(work, series), step_us,
				 point->time_us, point->value, &flow, &work->sums->faults))
		return 0;
	return book(work, series, &flow);
}

/* ---- both ---- */

static int run(struct summation *work, extract_source_fn *source, void *userdata)
{
	const struct series_sink steps = { begin_steps, take_step, work };
	const struct series_sink values = { begin_values, take_value, work };
	int r = source(userdata, &steps, work->diag);

	if (r < 0)
		return r;
	grid_finish(&work->sums->grid);
	work->sums->step_us = grid_typical_us(&work->sums->grid);
	r = check_steps(work);
	return r < 0 ? r : source(userdata, &values, work->diag);
}

int series_sums_read(const struct extract_options *options, extract_source_fn *source,
		     void *userdata, struct series_sums *ret, struct diag *diag)
{
	struct summation work = { .options = options, .sums = ret, .diag = diag };
	int r;

	map_init(&work.by_labels, SERIES_MAX);
	map_init(&work.by_cover, SERIES_MAX);
	map_init(&work.by_owner, OWNERS_MAX);
	r = run(&work, source, userdata);
	ret->duplicates += ret->power.duplicates;
	map_release(&work.by_labels);
	map_release(&work.by_cover);
	map_release(&work.by_owner);
	free(work.series);
	free(work.covers);
	return r;
}

static void release_feature(struct feature_sums *feature)
{
	free(feature->amounts[0]);
	free(feature->amounts[1]);
	free(feature->covered);
}

void series_sums_release(struct series_sums *sums)
{
	grid_release(&sums->grid);
	power_accounts_release(&sums->power);
	for (size_t i = 0; i < sums->feature_count; i++)
		release_feature(&sums->features[i]);
	release_feature(&sums->frequency);
	release_feature(&sums->node_type);
	release_feature(&sums->steal);
	for (size_t i = 0; i < sums->owner_count; i++) {
		for (size_t j = 0; sums->owners[i].amounts && j < EXTRACT_FEATURES_MAX; j++)
			free(sums->owners[i].amounts[j]);
		free(sums->owners[i].amounts);
	}
	free(sums->owners);
	strbuf_release(&sums->owner_names);
}
