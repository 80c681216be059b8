// SPDX-License-Identifier: Apache-2.0
/*
 * Series are looked at one by one; a row of the table below says where the value of a family goes.
 */
#include "doctor/cluster/exporter_page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "samples/exposition.h"

struct reading {
	struct exporter_page page;
	const struct series_labels *labels; /* of the series whose point comes next */
};

static bool begins_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

static struct page_zone *find_zone(struct exporter_page *page, const struct series_labels *labels)
{
	const char *zone = series_label(labels, "zone"), *source = series_label(labels, "source");
	struct page_zone *new;

	for (size_t i = 0; i < page->zone_count; i++) {
		struct page_zone *old = &page->zones[i];

		if (strncmp(old->zone, zone, sizeof(old->zone) - 1) == 0 &&
		    strncmp(old->source, source, sizeof(old->source) - 1) == 0)
			return old;
	}
	if (page->zone_count == PAGE_ZONES_MAX)
		return NULL;
	new = &page->zones[page->zone_count++];
	*new = (struct page_zone){ .is_measured = false };
	(void)snprintf(new->zone, sizeof(new->zone), "%s", zone);
	(void)snprintf(new->source, sizeof(new->source), "%s", source);
	return new;
}

static void take_zone(struct exporter_page *page, const struct series_labels *labels)
{
	struct page_zone *zone = find_zone(page, labels);

	if (!zone)
		return;
	zone->is_measured = strcmp(series_label(labels, "quality"), "measured") == 0;
	zone->is_estimated = strcmp(series_label(labels, "quality"), "estimated") == 0;
}

static void take_source(struct exporter_page *page, const struct series_labels *labels,
			double value)
{
	struct page_zone *zone = find_zone(page, labels);

	if (zone && value < 1)
		zone->is_down = true;
}

static void take_build(struct exporter_page *page, const struct series_labels *labels)
{
	(void)snprintf(page->version, sizeof(page->version), "%s", series_label(labels, "version"));
}

/* Energy and power of the node: a schema's families that each page of it has. */
static void take_family(struct exporter_page *page, const char *name)
{
	page->is_kepler |= begins_with(name, "kepler_");
	page->is_ours |= strcmp(name, "kepler_exporter_interval_seconds") == 0;
	page->has_classic |= begins_with(name, "kepler_exporter_build_info") ||
			     begins_with(name, "kepler_container_bpf_") ||
			     begins_with(name, "kepler_container_package_joules");
	page->has_current |=
		begins_with(name, "kepler_build_info") || begins_with(name, "kepler_node_cpu_");
	page->has_joules |= begins_with(name, "kepler_node_") && strstr(name, "joules_total");
}

static const struct {
	const char *name;
	size_t offset;
} numbers[] = {
	{ "kepler_exporter_interval_seconds", offsetof(struct exporter_page, interval_s) },
	{ "kepler_exporter_settle_seconds", offsetof(struct exporter_page, settle_s) },
	{ "kepler_exporter_snapshot_timestamp_seconds",
	  offsetof(struct exporter_page, snapshot_s) },
	{ "kepler_exporter_series_limit", offsetof(struct exporter_page, series_limit) },
	{ "kepler_exporter_own_pid_namespace", offsetof(struct exporter_page, hides_processes) },
};

static int take_series(void *userdata, const struct series_labels *labels)
{
	struct reading *reading = userdata;

	reading->labels = labels;
	reading->page.samples++;
	take_family(&reading->page, series_label(labels, "__name__"));
	return 0;
}

static int take_point(void *userdata, const struct series_point *point)
{
	struct reading *reading = userdata;
	struct exporter_page *page = &reading->page;
	const char *name = series_label(reading->labels, "__name__");

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (strcmp(name, numbers[i].name) == 0)
			*(double *)(void *)((char *)page + numbers[i].offset) = point->value;
	}
	if (strcmp(name, "kepler_zone_info") == 0)
		take_zone(page, reading->labels);
	else if (strcmp(name, "kepler_exporter_source_up") == 0)
		take_source(page, reading->labels, point->value);
	else if (strcmp(name, "kepler_build_info") == 0 ||
		 strcmp(name, "kepler_exporter_build_info") == 0)
		take_build(page, reading->labels);
	else if (strcmp(name, "kepler_exporter_series_merged_total") == 0)
		page->merged += point->value;
	else if (strcmp(name, "kepler_exporter_name_source_up") == 0 && point->value < 1 &&
		 strcmp(series_label(reading->labels, "source"), "kubernetes") == 0)
		page->lacks_names = true;
	return 0;
}

int exporter_page_read(const char *text, size_t len, struct exporter_page *ret, struct diag *diag)
{
	const double none = (double)NAN;
	struct reading reading = { .page = { .interval_s = none,
					     .settle_s = none,
					     .snapshot_s = none,
					     .series_limit = none } };
	const struct series_sink sink = { take_series, take_point, &reading };
	int r = exposition_read(text, len, 0, &sink, diag);

	if (r == 0)
		*ret = reading.page;
	return r;
}

bool exporter_page_measures(const struct exporter_page *page)
{
	for (size_t i = 0; i < page->zone_count; i++) {
		if (page->zones[i].is_measured)
			return true;
	}
	return false;
}

bool exporter_page_estimates(const struct exporter_page *page)
{
	for (size_t i = 0; i < page->zone_count; i++) {
		if (page->zones[i].is_estimated)
			return true;
	}
	return false;
}
