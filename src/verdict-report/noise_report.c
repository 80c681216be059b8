// SPDX-License-Identifier: Apache-2.0
#include "verdict-report/noise_report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include "base/macro.h"
#include "verdict-report/json_members.h"
#include "verdict-report/verdict_report.h"

const char *noise_phase_name(enum noise_phase phase)
{
	return phase == NOISE_IDLE ? "idle" : "load";
}

static void say_updates(const struct noise *noise, char *buf, size_t size)
{
	if (noise->updates < NOISE_UPDATES_LEAST)
		(void)snprintf(buf, size, "The counter changed only %zu times.", noise->updates);
	else if (!noise->update_is_resolved)
		(void)snprintf(buf, size,
			       "The counter changes at least every %.3g ms, with nearly each "
			       "reading.",
			       1e3 * noise->update_s);
	else
		(void)snprintf(buf, size, "The counter changes every %.3g ms (%.3g to %.3g ms).",
			       1e3 * noise->update_s, 1e3 * noise->update_low_s,
			       1e3 * noise->update_high_s);
}

void noise_summary(const struct noise *noise, char *buf, size_t size)
{
	char updates[160], unit[64] = "Its resolution is finer than can be seen", more[160] = "";

	say_updates(noise, updates, sizeof(updates));
	if (!isnan(noise->resolution_uj))
		(void)snprintf(unit, sizeof(unit), "Its resolution is %.4g µJ",
			       noise->resolution_uj);
	if (noise->is_randomised)
		(void)snprintf(
			more, sizeof(more),
			" Its increments are random by %.3g mJ, which neither its resolution "
			"nor the readings explain: it looks filtered.",
			1e3 * noise->counter_noise_j);
	(void)snprintf(buf, size, "%s %s; a reading takes %.3g µs.%s", updates, unit,
		       1e6 * noise->read_s, more);
}

static json_t *windows_array(const struct noise *noise)
{
	json_t *array = json_array();

	for (size_t i = 0; i < NOISE_WINDOWS; i++) {
		const struct noise_spread *spread = &noise->windows[i];
		json_t *object = json_object();

		json_members_set_number(object, "window_s", spread->window_s);
		json_members_set(object, "count", json_integer((json_int_t)spread->count));
		json_members_set_number(object, "mean_w", spread->mean_w);
		json_members_set_number(object, "sd_w", spread->sd_w);
		json_members_set_number(object, "allan_w", spread->allan_w);
		json_members_set_number(object, "min_w", spread->min_w);
		json_members_set_number(object, "p5_w", spread->low_w);
		json_members_set_number(object, "median_w", spread->median_w);
		json_members_set_number(object, "p95_w", spread->high_w);
		json_members_set_number(object, "max_w", spread->max_w);
		(void)json_array_append_new(array, object);
	}
	return array;
}

static json_t *phase_object(const struct noise *noise)
{
	const struct {
		const char *key;
		double value;
	} numbers[] = {
		{ "span_s", noise->span_s },
		{ "power_w", noise->power_w },
		{ "resolution_uj", noise->resolution_uj },
		{ "update_s", noise->update_s },
		{ "update_p5_s", noise->update_low_s },
		{ "update_p95_s", noise->update_high_s },
		{ "read_s", noise->read_s },
		{ "read_p99_s", noise->read_high_s },
		{ "interval_s", noise->interval_s },
		{ "counter_noise_j", noise->counter_noise_j },
	};
	json_t *object = json_object(), *allan = json_array();

	json_members_set(object, "readings", json_integer((json_int_t)noise->readings));
	json_members_set(object, "updates", json_integer((json_int_t)noise->updates));
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		json_members_set_number(object, numbers[i].key, numbers[i].value);
	json_members_set(object, "update_is_resolved", json_boolean(noise->update_is_resolved));
	json_members_set(object, "is_randomised", json_boolean(noise->is_randomised));
	json_members_set(object, "windows", windows_array(noise));
	for (size_t i = 0; i < noise->allan_count; i++) {
		json_t *point = json_object();

		json_members_set_number(point, "window_s", noise->allan_window_s[i]);
		json_members_set_number(point, "allan_w", noise->allan_w[i]);
		(void)json_array_append_new(allan, point);
	}
	json_members_set(object, "allan", allan);
	return object;
}

static json_t *meter_object(const struct noise_meter *meter)
{
	json_t *object = json_object();

	json_members_set_text(object, "name", meter->name);
	for (int phase = 0; phase < NOISE_PHASES; phase++)
		if (meter->has[phase])
			json_members_set(object, noise_phase_name((enum noise_phase)phase),
					 phase_object(&meter->phases[phase]));
	return object;
}

void noise_json_add(struct strbuf *out, const struct noise_report *report)
{
	json_t *object = json_object(), *meters = json_array(), *machine = json_object();
	char created[32];

	report_time_text((double)report->created, created);
	json_members_set(object, "format", json_integer(1));
	json_members_set_text(object, "created", created);
	json_members_set_text(object, "version", report->version);
	json_members_set_text(object, "command", report->command);
	json_members_set_text(object, "filter", report->filter);
	json_members_set_text(object, "stalled", report->stalled);
	for (size_t i = 0; report->machine && i < report->machine->count; i++)
		json_members_set_text(machine, report->machine->items[i].name,
				      report->machine->items[i].value);
	json_members_set(object, "machine", machine);
	for (size_t i = 0; i < report->count; i++)
		(void)json_array_append_new(meters, meter_object(&report->meters[i]));
	json_members_set(object, "meters", meters);
	char *text = json_dumps(object, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
	if (text) {
		strbuf_add_str(out, text);
		strbuf_add_char(out, '\n');
	} else {
		out->failed = true;
	}
	free(text);
	json_decref(object);
}

static void add_number(struct strbuf *out, double value)
{
	strbuf_add_str(out, " | ");
	if (isfinite(value))
		strbuf_addf(out, "%.4g", value);
	else
		strbuf_add_str(out, "–");
}

static void add_meter(struct strbuf *out, const struct noise_meter *meter)
{
	char text[512];

	strbuf_addf(out, "\n## %s\n", meter->name);
	for (int phase = 0; phase < NOISE_PHASES; phase++) {
		const struct noise *noise = &meter->phases[phase];

		if (!meter->has[phase])
			continue;
		noise_summary(noise, text, sizeof(text));
		strbuf_addf(out, "\n**%s**, %.4g W: %s\n\n",
			    noise_phase_name((enum noise_phase)phase), noise->power_w, text);
		strbuf_add_str(out, "| Window | Count | SD, W | 5 %, W | Median, W | 95 %, W | "
				    "Allan deviation, W |\n|---:|---:|---:|---:|---:|---:|---:|\n");
		for (size_t i = 0; i < NOISE_WINDOWS; i++) {
			const struct noise_spread *spread = &noise->windows[i];

			strbuf_addf(out, "| %g ms | %zu", 1e3 * spread->window_s, spread->count);
			add_number(out, spread->sd_w);
			add_number(out, spread->low_w);
			add_number(out, spread->median_w);
			add_number(out, spread->high_w);
			add_number(out, spread->allan_w);
			strbuf_add_str(out, " |\n");
		}
	}
}

void noise_markdown_add(struct strbuf *out, const struct noise_report *report)
{
	char created[32];

	report_time_text((double)report->created, created);
	strbuf_addf(out, "# Noise of the energy counters\n\nkepler-validator %s, %s: `%s`\n\n%s\n",
		    report->version, created, report->command, report->filter);
	if (*report->stalled)
		strbuf_addf(out, "\n**%s**\n", report->stalled);
	for (size_t i = 0; i < report->count; i++)
		add_meter(out, &report->meters[i]);
	if (!report->machine || report->machine->count == 0)
		return;
	strbuf_add_str(out, "\n## Machine\n\n| Field | Value |\n|---|---|\n");
	for (size_t i = 0; i < report->machine->count; i++)
		strbuf_addf(out, "| %s | %s |\n", report->machine->items[i].name,
			    report->machine->items[i].value);
}

void noise_report_release(struct noise_report *report)
{
	for (size_t i = 0; i < report->count; i++)
		for (int phase = 0; phase < NOISE_PHASES; phase++)
			series_free(report->meters[i].course[phase]);
	report->count = 0;
}
