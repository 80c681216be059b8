// SPDX-License-Identifier: Apache-2.0
#include "export/now_page.h"

#include <errno.h>
#include <math.h>

#include "base/num.h"
#include "snapshot/zone_picture.h"

static void add_key(struct strbuf *out, const char *key)
{
	strbuf_addf(out, "%s\"%s\":", out->len && strchr("{[", out->data[out->len - 1]) ? "" : ",",
		    key);
}

static void add_text(struct strbuf *out, const char *key, const char *text)
{
	add_key(out, key);
	strbuf_add_char(out, '"');
	strbuf_add_json(out, text);
	strbuf_add_char(out, '"');
}

/* What is not known is null, never 0. */
static void add_number(struct strbuf *out, const char *key, double value)
{
	char digits[FORMAT_DOUBLE_MAX];

	add_key(out, key);
	if (isfinite(value))
		strbuf_add(out, digits, format_double(digits, value));
	else
		strbuf_add_str(out, "null");
}

static void add_micro(struct strbuf *out, const char *key, bool is_known, uint64_t value)
{
	add_number(out, key, is_known ? (double)value / 1e6 : (double)NAN);
}

static void add_flag(struct strbuf *out, const char *key, bool flag)
{
	add_key(out, key);
	strbuf_add_str(out, flag ? "true" : "false");
}

static void begin_item(struct strbuf *out)
{
	strbuf_add_str(out, out->data && out->data[out->len - 1] == '}' ? ",\n{" : "\n{");
}

/* One that another source has taken over from has no power any more. */
static void add_zones(struct strbuf *out, const struct snapshot *snapshot)
{
	add_key(out, "zones");
	strbuf_add_char(out, '[');
	for (uint32_t z = 0; z < snapshot->zone_count; z++) {
		const struct snapshot_zone *zone = &snapshot->zones[z];

		if (zone->ended)
			continue;
		begin_item(out);
		add_text(out, "zone", zone_kind_name(zone->zone.kind));
		add_text(out, "package", zone->zone.instance);
		add_text(out, "source", zone->zone.source);
		add_text(out, "quality", zone_quality_name(zone->zone.quality));
		add_number(out, "watts", snapshot_zone_watts(zone));
		add_flag(out, "in_total", zone->total != TOTAL_NONE);
		strbuf_add_char(out, '}');
	}
	strbuf_add_char(out, ']');
}

static void add_parts(struct strbuf *out, const struct power_picture *power)
{
	add_key(out, "parts");
	strbuf_add_char(out, '[');
	for (uint32_t i = 0; i < power->part_count; i++) {
		const struct power_part *part = &power->parts[i];

		begin_item(out);
		add_text(out, "zone", zone_kind_name(part->kind));
		add_flag(out, "rest", part->is_rest);
		add_text(out, "quality", zone_quality_name(part->quality));
		add_micro(out, "watts", true, part->power_uw);
		strbuf_add_char(out, '}');
	}
	strbuf_add_char(out, ']');
}

static void add_use(struct strbuf *out, const struct power_picture *power, uint64_t cpu_ns,
		    uint64_t power_uw, uint64_t energy_uj)
{
	add_number(out, "cpu_percent",
		   power->elapsed_ns ? (double)cpu_ns * 100 / (double)power->elapsed_ns
				     : (double)NAN);
	add_micro(out, "watts", power->is_known, power_uw);
	add_micro(out, "joules", true, energy_uj);
	strbuf_add_char(out, '}');
}

static void add_rows(struct strbuf *out, const struct power_picture *power)
{
	const struct power_list *list = &power->processes;

	add_key(out, "rows");
	strbuf_add_char(out, '[');
	for (uint32_t i = 0; i < list->count; i++) {
		const struct power_row *row = &power->rows[list->first + i];

		begin_item(out);
		strbuf_addf(out, "\"pid\":%u", row->pid);
		add_text(out, "command", row->command);
		add_text(out, "owner", row->owner);
		add_use(out, power, row->cpu_ns, row->power_uw, row->energy_uj);
	}
	begin_item(out);
	strbuf_add_str(out, "\"pid\":null");
	add_text(out, "command", "other");
	add_text(out, "owner", "");
	add_use(out, power, list->other_cpu_ns, list->other_uw, list->other_uj);
	strbuf_add_char(out, ']');
}

int now_page(const struct snapshot *snapshot, struct strbuf *out)
{
	const struct power_picture *power = snapshot ? snapshot->power : NULL;

	if (!power)
		return -ENODATA;
	strbuf_add_char(out, '{');
	add_number(out, "time", (double)power->realtime_ms / 1e3);
	add_text(out, "node", snapshot->node.node_name);
	add_micro(out, "total_watts", power->is_known, power->total_uw);
	add_number(out, "error_watts", power->error_w > 0 ? power->error_w : (double)NAN);
	add_flag(out, "estimated", power->is_estimated);
	add_micro(out, "idle_watts", power->is_known && power->has_idle, power->idle_uw);
	add_flag(out, "idle_provisional", power->idle_is_provisional);
	add_micro(out, "unattributed_watts", power->is_known, power->unattributed_uw);
	add_parts(out, power);
	add_zones(out, snapshot);
	add_rows(out, power);
	strbuf_add_str(out, "}\n");
	return strbuf_error(out);
}
