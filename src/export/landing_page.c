// SPDX-License-Identifier: Apache-2.0
/*
 * Shows the node's name, the sources of its power and the largest consumers: owners, then
 * processes. Names are untrusted: all text goes through html_add_text().
 */
#include "export/landing_page.h"

#include <math.h>
#include <stdio.h>

#include "base/html.h"
#include "base/macro.h"

#define TOP_MAX 10

static const char head[] =
	"<!DOCTYPE html>\n"
	"<html lang=\"en\"><head><meta charset=\"utf-8\">"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
	"<title>Kepler</title><style>"
	"body{font:16px/1.5 system-ui,sans-serif;max-width:48rem;margin:2rem auto;padding:0 "
	"1rem;color:#1b1b1b;background:#fff}"
	"a{color:#0645ad}table{border-collapse:collapse;margin:1rem 0;width:100%}"
	"caption{text-align:left;font-weight:600}"
	"th,td{padding:.2rem 1rem .2rem 0;text-align:left;border-bottom:1px solid #ccc}"
	"main{overflow-x:auto}"
	"td.n,th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}"
	"@media(prefers-color-scheme:dark){body{color:#eee;background:#161616}a{color:#8ab4f8}"
	"th,td{border-color:#444}}"
	"</style></head><body><main>\n<h1>Kepler</h1>\n";

static const char tail[] = "<nav aria-label=\"Pages\"><ul>"
			   "<li><a href=\"/metrics\">Metrics</a>, for Prometheus</li>"
			   "<li><a href=\"/healthz\">Is it alive?</a></li>"
			   "<li><a href=\"/readyz\">Are its readings fresh?</a></li>"
			   "</ul></nav>\n</main></body></html>\n";

static void add_watts(struct strbuf *out, double watts)
{
	if (watts > 0 && watts < 0.01)
		strbuf_add_str(out, "&lt; 0.01 W");
	else if (isfinite(watts)) {
		long hundredths = lround(watts * 100);

		strbuf_addf(out, "%ld.%02ld W", hundredths / 100,
			    hundredths % 100); /* no locale's comma */
	} else
		strbuf_add_str(out, "no reading");
}

static double zone_watts(const struct snapshot_zone *zone)
{
	double watts = 0;

	for (enum energy_mode mode = 0; mode < MODE_COUNT; mode++) {
		if (zone->has_mode[mode])
			watts += zone->watts[mode];
	}
	return watts;
}

static void add_zones(struct strbuf *out, const struct snapshot *snapshot)
{
	if (snapshot->zone_count == 0) {
		strbuf_add_str(out, "<p>No power zone is known on this machine: only CPU time "
				    "can be shown. <code>kepler doctor</code> reports "
				    "why.</p>\n");
		return;
	}
	strbuf_add_str(out, "<table><caption>Sources of power</caption><tr><th "
			    "scope=\"col\">Zone</th><th scope=\"col\">Source</th><th "
			    "scope=\"col\">Quality</th><th scope=\"col\" "
			    "class=\"n\">Now</th></tr>\n");
	for (uint32_t i = 0; i < snapshot->zone_count; i++) {
		const struct snapshot_zone *zone = &snapshot->zones[i];

		strbuf_add_str(out, "<tr><td>");
		strbuf_add_str(out, zone_kind_name(zone->zone.kind));
		strbuf_add_char(out, ' ');
		html_add_text(out, zone->zone.instance, sizeof(zone->zone.instance));
		strbuf_addf(out, "</td><td>%s</td><td>%s", zone->zone.source,
			    zone_quality_name(zone->zone.quality));
		strbuf_add_str(out, "</td><td class=\"n\">");
		add_watts(out, zone_watts(zone));
		if (zone->zone.quality == QUALITY_ESTIMATED && zone->model_error_w > 0) {
			strbuf_add_str(out, " ± ");
			add_watts(out, zone->model_error_w);
		}
		strbuf_add_str(out, "</td></tr>\n");
	}
	strbuf_add_str(out, "</table>\n");
}

/* Consumers are ranked by the zones of one kind, if possible one with known power. */
static bool find_ranking_kind(const struct snapshot *snapshot, enum zone_kind *ret)
{
	bool is_there[ZONE_KIND_COUNT] = { false }, has_power[ZONE_KIND_COUNT] = { false };

	for (uint32_t i = 0; i < snapshot->zone_count; i++) {
		const struct snapshot_zone *zone = &snapshot->zones[i];

		is_there[zone->zone.kind] |= !zone->ended;
	}
	for (uint32_t i = 0; i < snapshot->account_count; i++) {
		const struct snapshot_account *account = &snapshot->accounts[i];

		has_power[snapshot->zones[account->first_zone].zone.kind] |= account->span_ns > 0;
	}
	return zone_kind_to_show(has_power, ret) || zone_kind_to_show(is_there, ret);
}

struct consumer {
	uint32_t row;
	double watts;
};

static double row_watts(const struct snapshot *snapshot, enum level level, uint32_t row,
			enum zone_kind kind)
{
	const uint64_t *deltas = snapshot->level[level].deltas + (size_t)row * snapshot->columns;
	double sum = 0;

	for (uint32_t i = 0; i < snapshot->account_count; i++) {
		const struct snapshot_account *account = &snapshot->accounts[i];

		if (snapshot->zones[account->first_zone].zone.kind == kind && account->span_ns)
			sum += (double)deltas[account->column[MODE_DYNAMIC]] * 1e3 /
			       (double)account->span_ns; /* µJ in ns are kW */
	}
	return sum;
}

static size_t find_top(const struct snapshot *snapshot, enum level level, enum zone_kind kind,
		       struct consumer top[TOP_MAX])
{
	size_t count = 0;

	for (uint32_t row = 0; row < snapshot->level[level].count; row++) {
		struct consumer one = { row, row_watts(snapshot, level, row, kind) };
		size_t at = count;

		if (one.watts <= 0)
			continue;
		while (at > 0 && top[at - 1].watts < one.watts)
			at--;
		if (at == TOP_MAX)
			continue;
		if (count < TOP_MAX)
			count++;
		memmove(&top[at + 1], &top[at], (count - at - 1) * sizeof(*top));
		top[at] = one;
	}
	return count;
}

/* "web", or of a container in a pod "web in shop/checkout-7d9f" */
static void add_owner(struct strbuf *out, const struct owner_names *names)
{
	html_add_text(out, names->text[LABEL_CONTAINER_NAME], OWNER_NAME_MAX + 1);
	if (!names->text[LABEL_POD_ID][0])
		return;
	strbuf_add_str(out, " in ");
	html_add_text(out, names->text[LABEL_NAMESPACE], OWNER_NAME_MAX + 1);
	strbuf_add_char(out, '/');
	html_add_text(out, names->text[LABEL_POD_NAME], OWNER_NAME_MAX + 1);
}

static void add_process(struct strbuf *out, const struct series_labels *labels)
{
	html_add_text(out, labels->command, sizeof(labels->command));
	if (labels->pid)
		strbuf_addf(out, " (%u)", labels->pid);
	strbuf_add_str(out, "</td><td>");
}

/* @level: the process with its owner, or owners alone. */
static void add_consumers(struct strbuf *out, const struct snapshot *snapshot, enum level level)
{
	struct consumer top[TOP_MAX];
	enum zone_kind kind;
	size_t count;

	if (!find_ranking_kind(snapshot, &kind))
		return;
	count = find_top(snapshot, level, kind, top);
	if (count == 0)
		return;
	strbuf_addf(out, "<table><caption>Largest %s (",
		    level == LEVEL_PROCESS ? "processes" : "owners");
	strbuf_add_str(out, zone_kind_name(kind));
	strbuf_addf(out,
		    ", dynamic)</caption><tr>%s<th scope=\"col\">Owner</th><th scope=\"col\" "
		    "class=\"n\">Power</th></tr>\n",
		    level == LEVEL_PROCESS ? "<th scope=\"col\">Process</th>" : "");
	for (size_t i = 0; i < count; i++) {
		const struct series_labels *labels = snapshot->level[level].rows[top[i].row].labels;

		strbuf_add_str(out, "<tr><td>");
		if (level == LEVEL_PROCESS)
			add_process(out, labels);
		add_owner(out, labels->names);
		strbuf_add_str(out, "</td><td class=\"n\">");
		add_watts(out, top[i].watts);
		strbuf_add_str(out, "</td></tr>\n");
	}
	strbuf_add_str(out, "</table>\n");
}

int landing_page(const struct snapshot *snapshot, struct strbuf *out)
{
	strbuf_add_str(out, head);
	if (snapshot) {
		strbuf_add_str(out, "<p>Power of the node <strong>");
		html_add_text(out, snapshot->self.node_name, sizeof(snapshot->self.node_name));
		strbuf_add_str(out, "</strong>, Kepler ");
		html_add_text(out, snapshot->self.version, sizeof(snapshot->self.version));
		strbuf_add_str(out, ".</p>\n");
		add_zones(out, snapshot);
		add_consumers(out, snapshot, LEVEL_CONTAINER);
		add_consumers(out, snapshot, LEVEL_PROCESS);
	} else {
		strbuf_add_str(out, "<p>Nothing has been read yet; try again in a second.</p>\n");
	}
	strbuf_add_str(out, tail);
	return strbuf_error(out);
}
