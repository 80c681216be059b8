// SPDX-License-Identifier: Apache-2.0
#include "export/unused_page.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "export/json_keys.h"
#include "snapshot/zone_picture.h"

#define SECONDS_DEFAULT 600
#define SECONDS_MAX     (366 * 86400)

static const char *const kinds[UNUSED_KINDS] = { "gpu_held", "cpu_reserved" };

int unused_query_read(const struct http_request *request, uint64_t *ret_least_ns, struct diag *diag)
{
	const char *text = http_request_argument(request, "seconds");
	uint64_t seconds = SECONDS_DEFAULT;

	if (text &&
	    (parse_u64(text, strlen(text), &seconds) < 0 || seconds < 1 || seconds > SECONDS_MAX))
		return diag_set(diag, -EINVAL,
				"seconds: must be a number from 1 to %d, not \"%.40s\"",
				SECONDS_MAX, text);
	*ret_least_ns = seconds * NSEC_PER_SEC;
	return 0;
}

/* The device's zone, and the power that it draws meanwhile, used or not. */
static void add_device(struct strbuf *out, const struct snapshot *snapshot, uint32_t device)
{
	double watts = (double)NAN;
	const char *name = "";

	for (uint32_t z = 0; z < snapshot->zone_count; z++) {
		const struct snapshot_zone *zone = &snapshot->zones[z];

		if (zone->zone.domain.kind != DOMAIN_DEVICE || zone->zone.domain.number != device ||
		    zone->ended)
			continue;
		name = zone->zone.instance;
		watts = snapshot_zone_watts(zone);
	}
	strbuf_addf(out, ",\"device\":%u", device);
	json_add_text(out, "package", name);
	json_add_number(out, "device_watts", watts);
}

static void add_finding(struct strbuf *out, const struct snapshot *snapshot,
			const struct unused_finding *finding, uint64_t now_ns)
{
	uint64_t seconds = (now_ns - finding->since_ns) / NSEC_PER_SEC;

	json_begin_item(out);
	json_add_text(out, "kind", kinds[finding->kind]);
	json_add_text(out, "owner", finding->owner);
	json_add_text(out, "namespace", finding->namespace);
	json_add_text(out, "pod", finding->pod);
	json_add_number(out, "seconds", (double)seconds);
	if (finding->kind == UNUSED_GPU)
		add_device(out, snapshot, finding->device);
	else
		json_add_number(out, "reserved_cpus", finding->size_millicpu / 1e3);
	strbuf_add_char(out, '}');
}

int unused_page(struct unused *unused, const struct snapshot *snapshot, uint64_t least_ns,
		uint64_t now_ns, struct strbuf *out)
{
	struct unused_finding *findings;
	uint64_t least_s = least_ns / NSEC_PER_SEC;
	uint32_t left_out;
	size_t count;

	if (!snapshot)
		return -ENODATA;
	findings = calloc(UNUSED_MAX, sizeof(*findings));
	if (!findings)
		return -ENOMEM;
	count = unused_read(unused, now_ns, least_ns, findings, UNUSED_MAX, &left_out);
	strbuf_add_char(out, '{');
	json_add_number(out, "time", (double)snapshot->realtime_ms / 1e3);
	json_add_text(out, "node", snapshot->node.node_name);
	json_add_number(out, "least_seconds", (double)least_s);
	strbuf_addf(out, ",\"left_out\":%u", left_out);
	json_add_key(out, "findings");
	strbuf_add_char(out, '[');
	for (size_t i = 0; i < count; i++)
		add_finding(out, snapshot, &findings[i], now_ns);
	strbuf_add_str(out, "]}\n");
	free(findings);
	return strbuf_error(out);
}
