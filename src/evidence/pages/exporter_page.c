// SPDX-License-Identifier: Apache-2.0
#include "evidence/pages/exporter_page.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "evidence/pages/exporter_state.h"

#define SNAPSHOT     "kepler_exporter_snapshot_timestamp_seconds"
#define GPU_ZONE     "gpu"
#define AGE          "kepler_exporter_source_age_seconds"
#define SETTLE       "kepler_exporter_settle_seconds"
#define PENDING      "kepler_pending_joules"
#define SETTLE_MAX_S 86400 /* a page may be hostile */
#define AGE_MAX_S    60    /* so may this be; a zone that is older is down */
#define LATE_MAX_S   5     /* one of several meters of a zone that is older is down */
#define JOULES_MAX   3e12  /* values beyond are no amount; three of them in µJ fit into 63 bits */

static int look_at_series(void *userdata, const struct page_series *series)
{
	struct exporter_state *state = userdata;
	enum exporter_kind kind = exporter_kind_of(series->name);

	state->has_own |= kind == EXPORTER_KEPLER_C;
	state->has_classic |= kind == EXPORTER_KEPLER_CLASSIC;
	if (kind > state->seen && kind != EXPORTER_KEPLER_C)
		state->seen = kind;
	if (exporter_kind_hint(series->name) != EXPORTER_UNKNOWN)
		state->hint = exporter_kind_hint(series->name);
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
	zone->age_s = INFINITY;
	zone->late_s = 0;
	zone->is_difference = metric->is_difference;
	return zone;
}

/* Idle energy that is shared by size does not depend on the load. */
static void count_mine(const struct exporter *exporter, const struct page_series *series,
		       enum energy_level level, double growth, const struct row_growth *row,
		       struct exporter_zone *zone)
{
	const struct own_rows *mine = exporter->state->options.mine;
	struct exporter_sum *sum = &zone->sums[level];
	size_t word = mine ? own_rows_find(mine, level, series) : OWN_WORDS_MAX;

	if (word == OWN_WORDS_MAX)
		return;
	sum->mine_whole += growth;
	if (strcmp(page_label(series, "mode"), "idle") == 0)
		return;
	sum->mine += growth;
	sum->mine_rows++;
	if (level == ENERGY_PROCESS)
		load_account_take(&zone->loads,
				  *page_label(series, "pid") ? row->load : exporter->load, word,
				  growth, series->value);
}

/* No process has more CPU time than all CPUs; its numbers may be as late as is permitted. */
static void check_cpu_row(struct exporter *exporter, const struct page_series *series,
			  const struct energy_metric *metric, double seconds)
{
	const struct exporter_options *options = &exporter->state->options;
	double most_s = options->cpus * (exporter->state->span_s + options->max_lag_s);

	exporter->cpu_rows_checked++;
	if (seconds > most_s)
		exporter_fault_note(&exporter->excess,
				    "%s: a %s has %.4g s since the value before, in which the CPUs "
				    "have at most %.4g s",
				    series->name, energy_level_name(metric->level), seconds,
				    most_s);
}

static int count_row(struct exporter *exporter, const struct page_series *series,
		     const struct energy_metric *metric, struct exporter_zone *zone)
{
	struct exporter_state *state = exporter->state;
	struct exporter_sum *sum = &zone->sums[metric->level];
	bool is_node = metric->level == ENERGY_NODE || metric->level == ENERGY_NODE_ACTIVE;
	bool is_gauge = metric->is_power || metric->is_difference;
	struct row_growth row = { .is_new = true, .grown_s = NAN, .load = exporter->load };
	int r = exporter_rows_take(&state->rows, series, is_gauge, &row);

	if (r == -ENOSPC)
		exporter_fault_note(&exporter->no_room, "%s: more than %u series", series->name,
				    EXPORTER_ROWS_MAX);
	else if (r < 0)
		return r;
	if (row.has_fallen)
		exporter_fault_note(&exporter->decrease, "%s went from %.9g to %.9g", series->name,
				    row.before, series->value);
	double growth = row.is_new && (is_node || exporter->new_pages == 0) ? 0 : row.amount;
	state->has_grown |= growth > 0 || (is_gauge && row.has_changed);
	if (metric->is_power)
		growth = series->value * state->span_s;
	growth *= metric->unit;
	/* A series that stood at 0, as the exporter reports, shows the work of that time, too. */
	bool has_settled = exporter->settle_s > 0 && row.before <= 0;
	if (strcmp(zone->name, "cpu") == 0 && !is_node && exporter->state->options.cpus > 0)
		check_cpu_row(exporter, series, metric,
			      metric->is_difference       ? series->value * metric->unit
			      : row.is_new || has_settled ? 0
							  : growth);
	if (is_node && *page_label(series, "source"))
		zone->is_estimated = !strstr(page_label(series, "source"), "rapl");
	if (metric->level == ENERGY_PROCESS)
		process_rows_take(&exporter->processes, series, is_gauge, row.grown_s);
	sum->rows++;
	sum->joules += growth;
	if (metric->level == ENERGY_NODE && strcmp(zone->name, "gpu") == 0)
		gpu_rows_take(&exporter->gpus, series, growth);
	count_mine(exporter, series, metric->level, growth, &row, zone);
	return 0;
}

static void add_micro(struct exporter *exporter, const char *name, int64_t micro, int64_t *sum)
{
	const int64_t most = (int64_t)(JOULES_MAX * 1e6);

	*sum += micro;
	if (*sum >= -most && *sum <= most)
		return;
	exporter_fault_note(&exporter->not_finite, "%s: its series together are beyond %g J", name,
			    JOULES_MAX);
	*sum = *sum > 0 ? most : -most;
}

static void note_source(struct exporter_zone *zone, const char *source)
{
	if (strstr(source, "model") || zone->is_measured)
		return;
	zone->is_measured = true;
	(void)snprintf(zone->source, sizeof(zone->source), "%s", source);
}

static int take_energy(struct exporter *exporter, const struct page_series *series,
		       const struct energy_metric *metric)
{
	struct exporter_state *state = exporter->state;
	struct exporter_zone *zone = take_zone(exporter, metric);
	/* A Prometheus may not know the type, which is not the exporter's fault. */
	bool is_typed =
		*state->typed && strncmp(state->typed, series->name, strlen(state->typed)) == 0;
	int64_t micro;

	exporter->series_checked++;
	exporter->state->energies++;
	if (!zone) {
		exporter_fault_note(&exporter->no_room, "%s: more than %d zones", series->name,
				    EXPORTER_ZONES_MAX);
		return 0;
	}
	if (!isfinite(series->value) || fabs(series->value * metric->unit) > JOULES_MAX) {
		exporter_fault_note(&exporter->not_finite, "%s is %g", series->name, series->value);
		return 0;
	}
	bool is_pending = strcmp(series->name, PENDING) == 0;
	if (!metric->is_power && !is_pending &&
	    (is_typed ? strcmp(state->type, "counter") != 0 : !state->prometheus))
		exporter_fault_note(&exporter->type, "%s has the type \"%s\"", series->name,
				    state->type);
	if (metric->level == ENERGY_NODE && metric->part == ENERGY_ROW)
		note_source(zone, page_label(series, "source"));
	if (is_pending && strcmp(page_label(series, "mode"), "idle") != 0)
		zone->sums[metric->level].pending_j += series->value;
	micro = (int64_t)llround(series->value * metric->unit * 1e6);
	add_micro(exporter, series->name, micro,
		  metric->part == ENERGY_UNATTRIBUTED ? &zone->unattributed_micro
						      : &zone->sums[metric->level].page_micro);
	return metric->part == ENERGY_ROW ? count_row(exporter, series, metric, zone) : 0;
}

/*
 * A zone can have several meters. One that is down stands still, and its energy comes later. On a
 * busy machine, one that is late is read in the next pass.
 */
static void take_age(struct exporter *exporter, const struct page_series *series)
{
	struct exporter_zone *zone = exporter_find_zone(exporter, page_label(series, "zone"));

	if (!zone || !(series->value >= 0))
		return;
	zone->age_s = fmin(zone->age_s, series->value);
	if (series->value < LATE_MAX_S)
		zone->late_s = fmax(zone->late_s, series->value);
}

static int take_series(void *userdata, const struct page_series *series)
{
	struct exporter *exporter = userdata;
	struct energy_metric metric;

	if (strcmp(series->name, SNAPSHOT) == 0)
		exporter->state->named_s = series->value;
	if (strcmp(series->name, AGE) == 0)
		take_age(exporter, series);
	if (strcmp(series->name, SETTLE) == 0 && series->value >= 0)
		exporter->settle_s = fmin(series->value, SETTLE_MAX_S);
	if (*page_label(series, "cpu_architecture"))
		(void)snprintf(exporter->architecture, sizeof(exporter->architecture), "%s",
			       page_label(series, "cpu_architecture"));
	published_bounds_take(&exporter->bounds, series);
	model_uses_take(&exporter->model_uses, series);
	exporter->state->series++;
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

static int take_help(void *userdata, const char *metric, const char *text)
{
	page_help_take(&((struct exporter *)userdata)->help, metric, text);
	return 0;
}

static void begin_page(struct exporter *exporter, double now_s)
{
	struct exporter_state *state = exporter->state;

	for (size_t i = 0; i < exporter->zone_count; i++) {
		exporter->zones[i].unattributed_micro = 0;
		exporter->zones[i].age_s = INFINITY;
		exporter->zones[i].late_s = 0;
		load_account_begin_page(&exporter->zones[i].loads);
		for (int level = 0; level < ENERGY_LEVELS; level++) {
			exporter->zones[i].sums[level].rows = 0;
			exporter->zones[i].sums[level].page_micro = 0;
			exporter->zones[i].sums[level].pending_j = 0;
		}
	}
	page_help_begin(&exporter->help);
	published_bounds_begin(&exporter->bounds);
	gpu_rows_begin(&exporter->gpus);
	state->has_grown = false;
	state->series = state->energies = 0;
	exporter_rows_begin_page(&state->rows, exporter->pages, now_s, exporter->load);
	state->named_s = NAN;
	state->typed[0] = state->type[0] = '\0';
	state->span_s = exporter->pages > 0 ? now_s - state->asked_s : 0;
}

/*
 * The rows of a level, with those that are gone, are the node's energy to the µJ. Under the current
 * names alone they are its active energy.
 */
static void check_balance(struct exporter *exporter, const struct exporter_zone *zone,
			  enum energy_level level)
{
	bool is_active = exporter->state->names == EXPORTER_KEPLER;
	const struct exporter_sum *sum = &zone->sums[level];
	const struct exporter_sum *node = &zone->sums[is_active ? ENERGY_NODE_ACTIVE : ENERGY_NODE];
	int64_t difference = sum->page_micro + zone->unattributed_micro - node->page_micro;

	if (node->rows == 0 || sum->rows == 0)
		return;
	exporter->balances_checked++;
	if (difference != 0)
		exporter_fault_note(&exporter->imbalance,
				    "zone %s: all of level %s, with what is unattributed, is %+.6f "
				    "J beside the "
				    "node's %.6f J%s",
				    zone->name, energy_level_name(level), (double)difference / 1e6,
				    (double)node->page_micro / 1e6,
				    is_active ? " of active energy" : "");
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

/* The charge to the virtual machine: the truth of an exporter inside it. */
static int add_own_sample(const struct exporter *exporter, struct exporter_sum *sum, double time_s)
{
	if (!sum->mine_series) {
		sum->mine_series = series_new("the host's account of the virtual machine", "W");
		if (!sum->mine_series)
			return -ENOMEM;
		memcpy(sum->mine_series->source, exporter->url, sizeof(sum->mine_series->source));
	}
	return series_add_counter(sum->mine_series, time_s, sum->mine_whole);
}

static int add_sample(struct exporter *exporter, struct exporter_zone *zone,
		      enum energy_level level, double time_s)
{
	struct exporter_sum *sum = &zone->sums[level];

	if (zone->is_difference || (!sum->series && sum->rows == 0))
		return 0;
	if (!sum->series) {
		char name[ENERGY_ZONE_MAX + 32];

		(void)snprintf(name, sizeof(name), "%s/%s", energy_level_name(level), zone->name);
		sum->series = series_new(name, strcmp(zone->name, "cpu") == 0 ? "CPUs" : "W");
		if (!sum->series)
			return -ENOMEM;
		memcpy(sum->series->source, exporter->url, sizeof(sum->series->source));
	}
	int r = level == ENERGY_VM && sum->mine_rows > 0 ? add_own_sample(exporter, sum, time_s)
							 : 0;
	return r < 0 ? r : series_add_counter(sum->series, time_s, sum->joules);
}

static bool has_age(const struct exporter *exporter, const struct exporter_zone *zone)
{
	return zone && !isnan(exporter->state->named_s) && zone->age_s < AGE_MAX_S;
}

/* How far the readings of a zone's meters are from the mean of their times. */
static double scatter_of(const struct exporter *exporter, const struct exporter_zone *zone)
{
	return has_age(exporter, zone) ? fmax(0, zone->late_s - zone->age_s) / 2 : 0;
}

/* How much earlier than the page's own time its numbers of the zone were read. */
static double age_of(const struct exporter *exporter, const struct exporter_zone *zone)
{
	return has_age(exporter, zone) ? zone->age_s + scatter_of(exporter, zone) : 0;
}

static int add_samples(struct exporter *exporter, double time_s)
{
	double gpus_s = time_s - age_of(exporter, exporter_find_zone(exporter, GPU_ZONE));
	int r = 0;

	for (size_t i = 0; i < exporter->zone_count; i++) {
		struct exporter_zone *zone = &exporter->zones[i];
		double zone_s = time_s - age_of(exporter, zone);

		exporter->time_error_s = fmax(exporter->time_error_s, scatter_of(exporter, zone));
		for (int level = 0; level < ENERGY_LEVELS && r == 0; level++)
			r = add_sample(exporter, zone, (enum energy_level)level, zone_s);
	}
	return r < 0 ? r : gpu_rows_end(&exporter->gpus, exporter->url, gpus_s);
}

static double page_time(const struct exporter *exporter, double now_s, double came_s,
			double *ret_error_s)
{
	const struct exporter_state *state = exporter->state;
	double before_s = exporter->pages > 0 ? state->asked_s : now_s;

	double named_s = state->named_s - exporter->wall_ahead_s;

	*ret_error_s = 0;
	if (named_s > exporter->last_s && named_s <= came_s)
		return named_s;
	*ret_error_s = came_s - now_s;
	if (exporter_reads_when_asked(exporter->kind))
		return now_s;
	*ret_error_s += (now_s - before_s) / 2;
	return (before_s + now_s) / 2;
}

static void note_levels(struct exporter *exporter, double now_s)
{
	for (size_t i = 0; i < exporter->zone_count; i++)
		for (int level = 0; level < ENERGY_LEVELS; level++) {
			struct exporter_sum *sum = &exporter->zones[i].sums[level];

			if (sum->rows > 0)
				sum->gone_s = NAN;
			else if (sum->was_there && isnan(sum->gone_s))
				sum->gone_s = now_s;
			sum->was_there |= sum->rows > 0;
			if (sum->page_micro > sum->most_micro)
				sum->most_micro = sum->page_micro;
		}
}

/* Completes a page with energy, after its last line. */
static int end_page(struct exporter *exporter, double now_s, double came_s)
{
	struct exporter_state *state = exporter->state;
	int r = 0;

	if (exporter->kind == EXPORTER_KEPLER_C)
		check_balances(exporter);
	process_rows_end(&exporter->processes);
	note_levels(exporter, now_s);
	if (!state->has_grown && exporter->new_pages > 0) {
		exporter->still_s = fmax(exporter->still_s, now_s - state->changed_s);
	} else {
		double error_s, time_s = page_time(exporter, now_s, came_s, &error_s);

		/* Without a time of its own, the first page's numbers are of an unknown age. */
		if (exporter->new_pages > 0 || !isnan(state->named_s) ||
		    exporter_reads_when_asked(exporter->kind))
			r = add_samples(exporter, time_s);
		if (r == 0)
			r = published_bounds_end(&exporter->bounds, time_s);
		if (exporter->new_pages > 0)
			exporter->time_error_s = fmax(exporter->time_error_s, error_s);
		if (exporter->new_pages++ == 0)
			exporter->first_s = time_s;
		exporter->last_s = time_s;
		state->changed_s = now_s;
	}
	exporter->pages++;
	state->asked_s = exporter->page_s = now_s;
	return r;
}

int exporter_take_page(struct exporter *exporter, double now_s, double came_s, char *text,
		       size_t len)
{
	const struct page_sink sink = { exporter, take_type, take_series, take_help };
	struct exporter_state *state = exporter->state;
	struct diag diag = { "" };
	int r;

	if (exporter->kind == EXPORTER_UNKNOWN)
		find_kind(exporter, text, len);
	begin_page(exporter, now_s);
	r = page_read(text, len, &sink, &diag);
	if (r == -EPROTO) {
		exporter_fault_note(&exporter->no_page, "%s", diag.text);
		return 0;
	}
	if (r < 0)
		return r;
	if (state->energies == 0) {
		enum exporter_kind kind =
			exporter->kind == EXPORTER_UNKNOWN ? state->hint : exporter->kind;

		if (kind == EXPORTER_UNKNOWN)
			exporter_fault_note(&exporter->no_page,
					    "the page has no metric of an exporter that is known");
		else
			exporter_fault_note(&exporter->no_page,
					    "a page of %s has %llu series, and none of energy",
					    exporter_kind_name(kind),
					    (unsigned long long)state->series);
		return 0;
	}
	return end_page(exporter, now_s, came_s);
}
