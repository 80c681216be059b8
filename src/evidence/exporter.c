// SPDX-License-Identifier: Apache-2.0
#include "evidence/exporter.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/macro.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "net/http_client.h"

#define CONNECT_MS 2000
#define SNAPSHOT   "kepler_exporter_snapshot_timestamp_seconds"
#define JOULES_MAX 3e12 /* values beyond are no amount; three of them in µJ fit into 63 bits */

struct row {
	double last;
	uint64_t page; /* the last one that had it, counted from 0 */
};

/* What is known while one page is read, and between pages. */
struct exporter_state {
	struct exporter_options options;
	struct http_client *http;
	struct strbuf page;
	struct map map; /* hash of name and labels → rows */
	struct row *rows;
	uint32_t row_count, row_size;
	enum exporter_kind names; /* the exporter that names zones this way */
	/* Of the page that is read: */
	bool has_own, has_classic, has_grown, is_malformed;
	enum exporter_kind seen;
	double named_s, span_s;
	char typed[256], type[32];
	/* Of the pages before: */
	double asked_s;
};

__attribute__((format(printf, 2, 3))) static void note(struct exporter_fault *fault,
						       const char *format, ...)
{
	va_list args;

	if (fault->count++ > 0)
		return;
	va_start(args, format);
	(void)vsnprintf(fault->example, sizeof(fault->example), format, args);
	va_end(args);
}

static int look_at_series(void *userdata, const struct page_series *series)
{
	struct exporter_state *state = userdata;
	enum exporter_kind kind = exporter_kind_of(series->name);

	state->has_own |= kind == EXPORTER_KEPLER_C;
	state->has_classic |= kind == EXPORTER_KEPLER_CLASSIC;
	if (kind != EXPORTER_UNKNOWN && kind != EXPORTER_KEPLER_C)
		state->seen = kind;
	return 0;
}

/* Kepler in C has classic names, current names, or both; the classic ones have more zones. */
static void find_kind(struct exporter *exporter, const char *text, size_t len)
{
	struct exporter_state *state = exporter->state;
	const struct page_sink sink = { .userdata = state, .series = look_at_series };
	struct diag diag = { "" };
	CLEANUP_FREE char *copy = malloc(len + 1);

	if (!copy)
		return;
	memcpy(copy, text, len);
	copy[len] = '\0';
	(void)page_read(copy, len, &sink, &diag);
	state->names = state->has_classic ? EXPORTER_KEPLER_CLASSIC : state->seen;
	exporter->kind = state->has_own ? EXPORTER_KEPLER_C : state->names;
}

struct exporter_zone *exporter_find_zone(struct exporter *exporter, const char *name)
{
	for (size_t i = 0; i < exporter->zone_count; i++)
		if (strcmp(exporter->zones[i].name, name) == 0)
			return &exporter->zones[i];
	return NULL;
}

static struct exporter_zone *take_zone(struct exporter *exporter,
				       const struct energy_metric *metric)
{
	struct exporter_zone *zone = exporter_find_zone(exporter, metric->zone);

	if (zone || exporter->zone_count == EXPORTER_ZONES_MAX)
		return zone;
	zone = &exporter->zones[exporter->zone_count++];
	memcpy(zone->name, metric->zone, sizeof(zone->name));
	zone->is_difference = metric->is_difference;
	return zone;
}

static struct map_key row_key(const struct page_series *series)
{
	uint64_t one = hash64_text(HASH64_START, series->name), other = ~one;

	for (size_t i = 0; i < series->label_count; i++) {
		one = hash64_text(hash64_byte(one, 1), series->label_name[i]);
		one = hash64_text(hash64_byte(one, 2), series->label_value[i]);
		other = hash64_text(other, series->label_value[i]);
	}
	return (struct map_key){ .hi = other, .lo = one };
}

/* By how much the series has grown; *@ret_new if it was not there before. 0 or -ENOMEM. */
static int row_growth(struct exporter *exporter, const struct page_series *series, bool *ret_new,
		      double *ret)
{
	struct exporter_state *state = exporter->state;
	struct map_key key = row_key(series);
	uint32_t index = map_find(&state->map, key);

	*ret = 0;
	*ret_new = index == MAP_NONE;
	if (index != MAP_NONE) {
		struct row *row = &state->rows[index];

		bool has_returned = row->page + 1 < exporter->pages;

		/* A series that went away and begins again, as that of a pid that is used again. */
		if (series->value < row->last && has_returned)
			*ret = series->value;
		else if (series->value < row->last)
			note(&exporter->decrease, "%s went from %.9g to %.9g", series->name,
			     row->last, series->value);
		else
			*ret = series->value - row->last;
		row->last = series->value;
		row->page = exporter->pages;
		return 0;
	}
	if (state->row_count == EXPORTER_ROWS_MAX) {
		note(&exporter->no_room, "%s: more than %u series", series->name,
		     EXPORTER_ROWS_MAX);
		return 0;
	}
	if (ARRAY_RESERVE(state->rows, state->row_size, state->row_count + 1) < 0 ||
	    map_put(&state->map, key, state->row_count) < 0)
		return -ENOMEM;
	state->rows[state->row_count++] =
		(struct row){ .last = series->value, .page = exporter->pages };
	*ret = series->value;
	return 0;
}

static bool is_mine(const struct exporter_state *state, const struct page_series *series)
{
	for (const char *const *word = state->options.mine; word && *word; word++)
		for (size_t i = 0; i < series->label_count; i++)
			if (strstr(series->label_value[i], *word))
				return true;
	return false;
}

static int count_row(struct exporter *exporter, const struct page_series *series,
		     const struct energy_metric *metric, struct exporter_zone *zone)
{
	struct exporter_state *state = exporter->state;
	struct exporter_sum *sum = &zone->sums[metric->level];
	bool is_new = false,
	     is_node = metric->level == ENERGY_NODE || metric->level == ENERGY_NODE_ACTIVE;
	double growth = series->value * state->span_s;
	int r = metric->is_power ? 0 : row_growth(exporter, series, &is_new, &growth);

	if (r < 0)
		return r;
	if (is_new && (is_node || exporter->new_pages == 0))
		growth = 0;
	growth *= metric->unit;
	state->has_grown |= growth > 0;
	sum->rows++;
	sum->joules += growth;
	/* Idle energy that is shared by size is no effect of the load. */
	if (strcmp(page_label(series, "mode"), "idle") != 0 && is_mine(state, series))
		sum->mine += growth;
	return 0;
}

static void add_micro(struct exporter *exporter, const char *name, int64_t micro, int64_t *sum)
{
	const int64_t most = (int64_t)(JOULES_MAX * 1e6);

	*sum += micro;
	if (*sum >= -most && *sum <= most)
		return;
	note(&exporter->not_finite, "%s: its series together are beyond %g J", name, JOULES_MAX);
	*sum = *sum > 0 ? most : -most;
}

static int take_energy(struct exporter *exporter, const struct page_series *series,
		       const struct energy_metric *metric)
{
	struct exporter_state *state = exporter->state;
	struct exporter_zone *zone = take_zone(exporter, metric);
	int64_t micro;

	exporter->series_checked++;
	if (!zone) {
		note(&exporter->no_room, "%s: more than %d zones", series->name,
		     EXPORTER_ZONES_MAX);
		return 0;
	}
	if (!isfinite(series->value) || fabs(series->value * metric->unit) > JOULES_MAX) {
		note(&exporter->not_finite, "%s is %g", series->name, series->value);
		return 0;
	}
	if (!metric->is_power && strcmp(series->name, "kepler_pending_joules") != 0 &&
	    (strncmp(state->typed, series->name, strlen(state->typed)) != 0 ||
	     strcmp(state->type, "counter") != 0))
		note(&exporter->type, "%s has the type \"%s\"", series->name, state->type);
	micro = (int64_t)llround(series->value * metric->unit * 1e6);
	add_micro(exporter, series->name, micro,
		  metric->part == ENERGY_UNATTRIBUTED ? &zone->unattributed_micro
						      : &zone->sums[metric->level].page_micro);
	return metric->part == ENERGY_ROW && !metric->is_difference
		       ? count_row(exporter, series, metric, zone)
		       : 0;
}

static int take_series(void *userdata, const struct page_series *series)
{
	struct exporter *exporter = userdata;
	struct energy_metric metric;

	if (strcmp(series->name, SNAPSHOT) == 0)
		exporter->state->named_s = series->value;
	if (!energy_metric_find(exporter->state->names, series, &metric))
		return 0;
	return take_energy(exporter, series, &metric);
}

static int take_type(void *userdata, const char *metric, const char *type)
{
	struct exporter_state *state = ((struct exporter *)userdata)->state;

	(void)snprintf(state->typed, sizeof(state->typed), "%s", metric);
	(void)snprintf(state->type, sizeof(state->type), "%s", type);
	return 0;
}

static void begin_page(struct exporter *exporter, double now_s)
{
	struct exporter_state *state = exporter->state;

	for (size_t i = 0; i < exporter->zone_count; i++) {
		exporter->zones[i].unattributed_micro = 0;
		for (int level = 0; level < ENERGY_LEVELS; level++) {
			exporter->zones[i].sums[level].rows = 0;
			exporter->zones[i].sums[level].page_micro = 0;
		}
	}
	state->has_grown = false;
	state->named_s = NAN;
	state->typed[0] = state->type[0] = '\0';
	state->span_s = exporter->pages > 0 ? now_s - state->asked_s : 0;
}

/* The rows of a level, with those that are gone, are the node's energy to the µJ. */
static void check_balance(struct exporter *exporter, const struct exporter_zone *zone,
			  enum energy_level level)
{
	const struct exporter_sum *sum = &zone->sums[level], *node = &zone->sums[ENERGY_NODE];
	int64_t difference = sum->page_micro + zone->unattributed_micro - node->page_micro;

	if (node->rows == 0 || sum->rows == 0)
		return;
	exporter->balances_checked++;
	if (difference != 0)
		note(&exporter->imbalance,
		     "zone %s: all of level %s, with what is unattributed, is %+.6f J beside the "
		     "node's %.6f J",
		     zone->name, energy_level_name(level), (double)difference / 1e6,
		     (double)node->page_micro / 1e6);
}

static void check_balances(struct exporter *exporter)
{
	for (size_t i = 0; i < exporter->zone_count; i++) {
		const struct exporter_zone *zone = &exporter->zones[i];

		if (strcmp(zone->name, "cpu") == 0)
			continue;
		check_balance(exporter, zone, ENERGY_PROCESS);
		check_balance(exporter, zone, ENERGY_CONTAINER);
		check_balance(exporter, zone, ENERGY_NAMESPACE);
	}
}

static int add_sample(struct exporter *exporter, struct exporter_zone *zone,
		      enum energy_level level, double time_s)
{
	struct exporter_sum *sum = &zone->sums[level];

	if (!sum->series && sum->rows == 0)
		return 0;
	if (!sum->series) {
		char name[ENERGY_ZONE_MAX + 32];

		(void)snprintf(name, sizeof(name), "%s/%s", energy_level_name(level), zone->name);
		sum->series = series_new(name, strcmp(zone->name, "cpu") == 0 ? "CPUs" : "W");
		if (!sum->series)
			return -ENOMEM;
		memcpy(sum->series->source, exporter->url, sizeof(sum->series->source));
	}
	return series_add_counter(sum->series, time_s, sum->joules);
}

static int add_samples(struct exporter *exporter, double time_s)
{
	int r = 0;

	for (size_t i = 0; i < exporter->zone_count; i++)
		for (int level = 0; level < ENERGY_LEVELS && r == 0; level++)
			r = add_sample(exporter, &exporter->zones[i], (enum energy_level)level,
				       time_s);
	return r;
}

static double page_time(const struct exporter *exporter, double now_s, double came_s)
{
	const struct exporter_state *state = exporter->state;
	double before_s = exporter->pages > 0 ? state->asked_s : now_s;

	if (state->named_s > exporter->last_s && state->named_s <= came_s)
		return state->named_s;
	return (before_s + now_s) / 2;
}

int exporter_take_page(struct exporter *exporter, double now_s, double came_s, char *text,
		       size_t len)
{
	const struct page_sink sink = { exporter, take_type, take_series };
	struct exporter_state *state = exporter->state;
	struct diag diag = { "" };
	int r;

	if (exporter->kind == EXPORTER_UNKNOWN)
		find_kind(exporter, text, len);
	if (exporter->kind == EXPORTER_UNKNOWN) {
		note(&exporter->no_page, "the page has no metric of an exporter that is known");
		return 0;
	}
	begin_page(exporter, now_s);
	r = page_read(text, len, &sink, &diag);
	if (r == -EPROTO) {
		note(&exporter->no_page, "%s", diag.text);
		return 0;
	}
	if (r == 0 && exporter->kind == EXPORTER_KEPLER_C && state->names != EXPORTER_KEPLER)
		check_balances(exporter);
	if (r == 0 && (state->has_grown || exporter->new_pages == 0)) {
		double time_s = page_time(exporter, now_s, came_s);

		r = add_samples(exporter, time_s);
		if (exporter->new_pages++ == 0)
			exporter->first_s = time_s;
		exporter->last_s = time_s;
	}
	exporter->pages++;
	state->asked_s = now_s;
	return r;
}

static int take_body(void *userdata, const char *bytes, size_t len)
{
	struct exporter_state *state = userdata;

	strbuf_add(&state->page, bytes, len);
	return strbuf_error(&state->page);
}

int exporter_scrape(struct exporter *exporter, double now_s)
{
	struct exporter_state *state = exporter->state;
	const struct http_request_options request = {
		.url = exporter->url,
		.accept = "text/plain;version=0.0.4",
		.connect_timeout_ms = CONNECT_MS,
		.timeout_ms = state->options.timeout_ms,
		.max_bytes = EXPORTER_PAGE_MAX,
	};
	struct http_reply reply;
	struct diag diag = { "" };

	strbuf_reset(&state->page);
	int r = http_client_get(state->http, &request, take_body, state, &reply, &diag);
	double came_s = (double)clock_ns(CLOCK_REALTIME) / (double)NSEC_PER_SEC;
	if (r < 0) {
		note(&exporter->no_page, "%s", diag.text);
		return 0;
	}
	if (reply.status != 200) {
		note(&exporter->no_page, "the answer has the status %d", reply.status);
		return 0;
	}
	strbuf_add_char(&state->page, '\0');
	if (strbuf_error(&state->page) < 0)
		return -ENOMEM;
	return exporter_take_page(exporter, now_s, came_s, state->page.data, state->page.len - 1);
}

void exporter_finish(struct exporter *exporter)
{
	for (size_t i = 0; i < exporter->zone_count; i++)
		for (int level = 0; level < ENERGY_LEVELS; level++)
			if (exporter->zones[i].sums[level].series)
				series_finish(exporter->zones[i].sums[level].series);
}

void exporter_free(struct exporter *exporter)
{
	if (!exporter)
		return;
	for (size_t i = 0; i < exporter->zone_count; i++)
		for (int level = 0; level < ENERGY_LEVELS; level++)
			series_free(exporter->zones[i].sums[level].series);
	if (exporter->state) {
		http_client_free(exporter->state->http);
		strbuf_release(&exporter->state->page);
		map_release(&exporter->state->map);
		free(exporter->state->rows);
		free(exporter->state);
	}
	free(exporter);
}

static void cleanup_exporter(struct exporter **exporter)
{
	exporter_free(*exporter);
}

int exporter_open(const struct exporter_options *options, struct exporter **ret, struct diag *diag)
{
	const struct http_client_options http = { .user_agent = "kepler-validator",
						  .environment_proxy = true,
						  .cancel_fd = -1 };
	CLEANUP(cleanup_exporter) struct exporter *exporter = calloc(1, sizeof(*exporter));
	if (exporter)
		exporter->state = calloc(1, sizeof(*exporter->state));
	if (!exporter || !exporter->state)
		return diag_set(diag, -ENOMEM, "out of memory");
	exporter->state->options = *options;
	map_init(&exporter->state->map, EXPORTER_ROWS_MAX);
	(void)snprintf(exporter->url, sizeof(exporter->url), "%s", options->url);
	int r = http_client_new(&http, &exporter->state->http, diag);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(exporter);
	return 0;
}
