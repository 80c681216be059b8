// SPDX-License-Identifier: Apache-2.0
/*
 * A walk over the metric table. A row whose name has <zone> in it is walked once for each kind of
 * zone that the node has, in the order in which they first appear, so that each family stands in
 * one piece.
 */
#include "export/prometheus.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "export/label_cache.h"
#include "export/metric_table.h"
#include "export/render.h"
#include "net/http_accept.h"

#define OPENMETRICS_TYPE "application/openmetrics-text"

bool zone_in_family(const struct render *render, uint32_t zone)
{
	return !render->is_of_kind || render->kind == render->snapshot->zones[zone].zone.kind;
}

bool zone_is_measured_cpu(const struct snapshot_zone *zone)
{
	return zone->zone.quality == QUALITY_MEASURED && zone->zone.kind != ZONE_PLATFORM;
}

static bool same_labels(const struct zone *a, const struct zone *b)
{
	return a->kind == b->kind && strcmp(a->instance, b->instance) == 0 &&
	       strcmp(a->source, b->source) == 0;
}

void zone_package_label(const struct snapshot *snapshot, uint32_t zone, char *buf, size_t size)
{
	const struct snapshot_zone *zones = snapshot->zones;

	(void)snprintf(buf, size, "%s", zones[zone].zone.instance);
	for (uint32_t earlier = 0; earlier < zone; earlier++) {
		if (same_labels(&zones[earlier].zone, &zones[zone].zone)) {
			(void)snprintf(buf, size, "%s#%u", zones[zone].zone.instance, zone);
			return;
		}
	}
}

static bool is_first_of_its_kind(const struct snapshot *snapshot, uint32_t zone)
{
	for (uint32_t earlier = 0; earlier < zone; earlier++) {
		if (snapshot->zones[earlier].zone.kind == snapshot->zones[zone].zone.kind)
			return false;
	}
	return true;
}

static void emit_family(struct render *render, const struct metric *metric)
{
	const struct snapshot *snapshot = render->snapshot;

	render->is_of_kind = strstr(metric->name, METRIC_ZONE) != NULL;
	if (!render->is_of_kind) {
		family_begin(&render->w, metric, "");
		metric->emit(render, metric);
		return;
	}
	for (uint32_t zone = 0; zone < snapshot->zone_count; zone++) {
		if (!is_first_of_its_kind(snapshot, zone))
			continue;
		render->kind = snapshot->zones[zone].zone.kind;
		family_begin(&render->w, metric, zone_kind_name(render->kind));
		metric->emit(render, metric);
	}
}

/*
 * "bpf-walk" and "bpf-iter" count the same thing in the same way: a change from one to the other
 * breaks no series.
 */
static void set_activity_source(struct render *render)
{
	const char *reader = render->snapshot->self.activity_reader;
	int len = strncmp(reader, "bpf", 3) == 0 ? 3 : 15;

	(void)snprintf(render->activity_source, sizeof(render->activity_source), "%.*s", len,
		       reader);
}

int prometheus_render(const struct snapshot *snapshot, const struct http_stats *http,
		      const struct page_options *options, enum exposition exposition,
		      struct label_cache *cache, struct strbuf *out)
{
	struct render render = {
		.w = { .out = out,
		       .exposition = exposition,
		       .created = options->created && exposition == EXPOSITION_OPENMETRICS },
		.snapshot = snapshot,
		.http = http,
		.start_ms = (int64_t)(snapshot->self.start_time_s * 1000),
	};
	const struct metric *table;
	size_t count;

	set_activity_source(&render);
	if (label_cache_view(cache, snapshot, render.rows) < 0)
		return -ENOMEM;
	table = metric_table(&count);
	for (size_t i = 0; i < count; i++) {
		if (table[i].schemas & (unsigned)options->schema)
			emit_family(&render, &table[i]);
	}
	if (exposition == EXPOSITION_OPENMETRICS)
		strbuf_add_str(out, "# EOF\n");
	if (strbuf_error(&render.scratch) < 0)
		out->failed = true;
	strbuf_release(&render.scratch);
	return strbuf_error(out);
}

static bool is_version_we_speak(const struct http_accepted *accepted)
{
	size_t len;
	const char *version = http_accepted_parameter(accepted, "version", &len);

	return !version || (len == 5 && strncmp(version, "1.0.0", len) == 0) ||
	       (len == 7 && strncmp(version, "\"1.0.0\"", len) == 0);
}

/* OpenMetrics is for those that prefer it to plain text, which everything else can read. */
enum exposition prometheus_negotiate(const char *accept)
{
	unsigned openmetrics = 0, text = 0;
	struct http_accepted accepted;

	while (accept && http_accept_next(&accept, &accepted)) {
		if (http_accepted_is(&accepted, OPENMETRICS_TYPE)) {
			if (is_version_we_speak(&accepted) && accepted.weight > openmetrics)
				openmetrics = accepted.weight;
		} else if (http_accepted_is(&accepted, "text/plain") && accepted.weight > text) {
			text = accepted.weight;
		}
	}
	return openmetrics > text ? EXPOSITION_OPENMETRICS : EXPOSITION_TEXT;
}

const char *prometheus_content_type(enum exposition exposition)
{
	return exposition == EXPOSITION_OPENMETRICS ? OPENMETRICS_TYPE
		       "; version=1.0.0; charset=utf-8"
						    : "text/plain; version=0.0.4; charset=utf-8";
}
