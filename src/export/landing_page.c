// SPDX-License-Identifier: Apache-2.0
/*
 * The document of src/export/web/ draws power and history itself, with the JSON pages. Before its
 * script has its first answer, and without a script, it has what is written here:
 * the node's power, the largest consumers (owners, then processes) and the sources. Names are
 * untrusted: all text goes through html_add_text().
 */
#include "export/landing_page.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/macro.h"
#include "base/text/html.h"
#include "base/text/watts_text.h"
#include "export/web_page.h"
#include "snapshot/power_text.h"
#include "snapshot/zone_picture.h"

#define TOP_MAX 10

static const char links[] = "<nav aria-label=\"Pages\"><ul>"
			    "<li><a href=\"/metrics\">Metrics</a>, for Prometheus</li>"
			    "<li><a href=\"/api/v1/now\">Power now</a>, as JSON</li>"
			    "<li><a href=\"/healthz\">Is it alive?</a></li>"
			    "<li><a href=\"/readyz\">Are its readings fresh?</a></li>"
			    "</ul></nav>\n";

static void add_watts(struct strbuf *out, double watts)
{
	char text[WATTS_TEXT_MAX];

	if (!isfinite(watts)) {
		strbuf_add_str(out, "no reading");
		return;
	}
	watts_text(text, watts);
	html_add_text(out, text, sizeof(text));
	strbuf_add_str(out, " W");
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
		char bound[WATTS_TEXT_MAX];

		strbuf_add_str(out, "<tr><td>");
		strbuf_add_str(out, zone_kind_name(zone->zone.kind));
		strbuf_add_char(out, ' ');
		html_add_text(out, zone->zone.instance, sizeof(zone->zone.instance));
		strbuf_addf(out, "</td><td>%s</td><td>%s", zone->zone.source,
			    zone_quality_name(zone->zone.quality));
		strbuf_add_str(out, "</td><td class=\"n\">");
		add_watts(out, snapshot_zone_watts(zone));
		if (zone->zone.quality == QUALITY_ESTIMATED && zone->model_error_w > 0) {
			watts_bound_text(bound, zone->model_error_w);
			strbuf_addf(out, " ± %s W", bound);
		}
		strbuf_add_str(out, "</td></tr>\n");
	}
	strbuf_add_str(out, "</table>\n");
}

/* The node's power, what it is made of, and what it is used for. */
static void add_headline(struct strbuf *out, const struct power_picture *power)
{
	if (!power->is_known)
		return;
	strbuf_add_str(out, "<p><strong class=\"w\">");
	power_text_total(power, out);
	strbuf_add_str(out, "</strong><br>");
	power_text_parts(power, out);
	strbuf_add_str(out, "<br>");
	power_text_uses(power, out);
	strbuf_add_str(out, "</p>\n");
}

static void add_consumer(struct strbuf *out, const struct power_row *row)
{
	strbuf_add_str(out, "<tr><td>");
	if (row->pid) {
		html_add_text(out, row->command, sizeof(row->command));
		strbuf_addf(out, " (%u)</td><td>", row->pid);
	}
	html_add_text(out, row->owner, sizeof(row->owner));
	strbuf_add_str(out, "</td><td class=\"n\">");
	add_watts(out, (double)row->power_uw / 1e6);
	strbuf_add_str(out, "</td></tr>\n");
}

static void add_consumers(struct strbuf *out, const struct power_picture *power, bool processes)
{
	const struct power_list *list = &power->view[processes ? LEVEL_PROCESS : LEVEL_CONTAINER];
	uint32_t shown = list->count < TOP_MAX ? list->count : TOP_MAX;
	uint64_t rest_uw = list->other_uw;

	if (!power->is_known || !shown)
		return;
	for (uint32_t i = shown; i < list->count; i++)
		rest_uw += power->rows[list->first + i].power_uw;
	strbuf_addf(out,
		    "<table><caption>Largest %s</caption><tr>%s<th scope=\"col\">Owner</th><th "
		    "scope=\"col\" class=\"n\">Power</th></tr>\n",
		    processes ? "processes" : "owners",
		    processes ? "<th scope=\"col\">Process</th>" : "");
	for (uint32_t i = 0; i < shown; i++)
		add_consumer(out, &power->rows[list->first + i]);
	strbuf_addf(out, "<tr><td%s>all others</td><td class=\"n\">",
		    processes ? " colspan=\"2\"" : "");
	add_watts(out, (double)rest_uw / 1e6);
	strbuf_add_str(out, "</td></tr>\n</table>\n");
}

/* Why counters of a new exporter show nothing yet. */
static void add_settling(struct strbuf *out, double settle_s)
{
	if (settle_s > 0)
		strbuf_addf(out,
			    "<p>In <a href=\"/metrics\">/metrics</a> a new series shows 0 for the "
			    "first %.0f s, so that Prometheus counts it from its start.</p>\n",
			    settle_s);
}

static void add_plain(struct strbuf *out, const struct snapshot *snapshot)
{
	strbuf_add_str(out, "<h1>Kepler</h1>\n");
	if (snapshot) {
		strbuf_add_str(out, "<p>Power of the node <strong>");
		html_add_text(out, snapshot->node.node_name, sizeof(snapshot->node.node_name));
		strbuf_add_str(out, "</strong>, Kepler ");
		html_add_text(out, snapshot->node.version, sizeof(snapshot->node.version));
		strbuf_add_str(out, ".</p>\n");
		add_headline(out, snapshot->power);
		add_consumers(out, snapshot->power, false);
		add_consumers(out, snapshot->power, true);
		add_zones(out, snapshot);
		add_settling(out, snapshot->settle_s);
	} else {
		strbuf_add_str(out, "<p>Nothing has been read yet; try again in a second.</p>\n");
	}
	strbuf_add_str(out, links);
}

int landing_page(const struct snapshot *snapshot, struct strbuf *out)
{
	uLongf size = web_page_head + web_page_tail;
	CLEANUP_FREE char *document = malloc(size);

	if (!document || uncompress((Bytef *)document, &size, web_page_data, web_page_size) != Z_OK)
		return -ENOMEM;
	strbuf_add(out, document, web_page_head);
	add_plain(out, snapshot);
	strbuf_add(out, document + web_page_head, web_page_tail);
	return strbuf_error(out);
}
