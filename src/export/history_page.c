// SPDX-License-Identifier: Apache-2.0
#include "export/history_page.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "export/json_keys.h"

#define SECONDS_DEFAULT 600
#define OWNERS_DEFAULT  12
/* So many steps unless step= says otherwise, at the least. */
#define STEPS_DEFAULT 300

struct printing {
	struct strbuf *out;
	const struct history_view *view;
	bool is_part;
};

/* One value, in steps of 1000 for a client that sees a part. */
static double scaled(const struct printing *printing, double micro)
{
	return (printing->is_part ? floor(micro / 1e3) * 1e3 : micro) / 1e6;
}

static void add_joules(const struct printing *printing, const uint64_t *energy_uj,
		       const uint32_t *cover_ms)
{
	json_add_key(printing->out, "joules");
	strbuf_add_char(printing->out, '[');
	for (uint32_t i = 0; i < printing->view->range.count; i++)
		json_add_value(printing->out,
			       cover_ms[i] ? scaled(printing, (double)energy_uj[i]) : (double)NAN);
	strbuf_add_char(printing->out, ']');
}

/* The time of a step that is known; the rounding of its parts leaves no gap. */
static double known_ms(const struct printing *printing, uint32_t cover_ms)
{
	double whole_ms = printing->view->range.width_s * 1e3;

	return cover_ms > whole_ms * 0.995 ? whole_ms : cover_ms;
}

/* The mean of the time that is known of a step, in whole mW. */
static void add_watts(const struct printing *printing, const uint64_t *energy_uj,
		      const uint32_t *cover_ms)
{
	json_add_key(printing->out, "watts");
	strbuf_add_char(printing->out, '[');
	for (uint32_t i = 0; i < printing->view->range.count; i++)
		json_add_value(printing->out, cover_ms[i] ? floor((double)energy_uj[i] /
								  known_ms(printing, cover_ms[i])) /
								    1e3
							  : (double)NAN);
	strbuf_add_char(printing->out, ']');
}

static void add_series(const struct printing *printing, const char *key, const uint64_t *energy_uj)
{
	json_add_key(printing->out, key);
	strbuf_add_char(printing->out, '{');
	add_joules(printing, energy_uj, printing->view->cover_ms);
	add_watts(printing, energy_uj, printing->view->cover_ms);
	strbuf_add_char(printing->out, '}');
}

static void add_zones(const struct printing *printing)
{
	struct strbuf *out = printing->out;

	json_add_key(out, "zones");
	strbuf_add_char(out, '[');
	for (uint32_t z = 0; z < printing->view->zones; z++) {
		const struct history_zone_view *zone = &printing->view->zone[z];

		json_begin_item(out);
		json_add_text(out, "zone", zone->kind);
		json_add_text(out, "package", zone->instance);
		json_add_text(out, "source", zone->source);
		json_add_text(out, "quality", zone_quality_name(zone->quality));
		json_add_flag(out, "in_total", zone->in_total);
		add_joules(printing, zone->energy_uj, zone->cover_ms);
		add_watts(printing, zone->energy_uj, zone->cover_ms);
		strbuf_add_char(out, '}');
	}
	strbuf_add_char(out, ']');
}

static void add_owners(const struct printing *printing)
{
	const struct history_view *view = printing->view;
	struct strbuf *out = printing->out;

	json_add_key(out, "owners");
	strbuf_add_char(out, '[');
	for (uint32_t i = 0; i < view->owners; i++) {
		const struct history_owner_view *owner = &view->owner[i];

		json_begin_item(out);
		json_add_text(out, "owner", owner->name);
		json_add_text(out, "namespace", owner->namespace);
		json_add_text(out, "pod", owner->pod);
		add_joules(printing, owner->energy_uj, view->cover_ms);
		add_watts(printing, owner->energy_uj, view->cover_ms);
		strbuf_add_char(out, '}');
	}
	strbuf_add_char(out, ']');
	add_series(printing, "other", view->other_uj);
	add_series(printing, "idle", view->idle_uj);
	add_series(printing, "unattributed", view->unattributed_uj);
}

int history_page(struct history *history, const struct history_window *window, bool is_part,
		 struct strbuf *out)
{
	struct history_view view;
	const struct printing printing = { out, &view, is_part };
	double end_s;
	int r = history_read(history, window, &view);

	if (r < 0)
		return r;
	end_s = (double)view.end_ms / 1e3;
	strbuf_add_char(out, '{');
	json_add_number(out, "start",
			end_s - (double)view.range.count * (double)view.range.width_s);
	json_add_number(out, "end", end_s);
	json_add_number(out, "step", view.range.width_s);
	json_add_number(out, "first", (double)view.range.first);
	json_add_number(out, "points", view.range.count);
	json_add_number(out, "left_out_zones", view.left_out_zones);
	add_series(&printing, "total", view.total_uj);
	add_series(&printing, "estimated", view.estimated_uj);
	add_zones(&printing);
	if (!is_part)
		add_owners(&printing);
	strbuf_add_str(out, "}\n");
	history_view_release(&view);
	return strbuf_error(out);
}

static int read_number(const struct http_request *request, const char *name, uint32_t least,
		       uint32_t most, uint32_t *ret, struct diag *diag)
{
	const char *text = http_request_argument(request, name);
	uint64_t number;

	if (!text)
		return 0;
	if (parse_u64(text, strlen(text), &number) < 0 || number < least || number > most)
		return diag_set(diag, -EINVAL, "%s: want a number of %u to %u, not \"%.40s\"", name,
				least, most, text);
	*ret = (uint32_t)number;
	return 0;
}

/* More than an hour is kept in whole minutes only. */
static int check_step(const struct history_window *window, struct diag *diag)
{
	if (window->seconds > HISTORY_HOUR_S && window->step_s % HISTORY_COARSE_S)
		return diag_set(diag, -EINVAL,
				"step: more than %u seconds are kept in whole minutes only: want a "
				"multiple of %u, not %u",
				HISTORY_HOUR_S, HISTORY_COARSE_S, window->step_s);
	if (window->seconds / window->step_s > HISTORY_POINTS_MAX)
		return diag_set(diag, -EINVAL, "step: want at most %d steps, not %u seconds / %u",
				HISTORY_POINTS_MAX, window->seconds, window->step_s);
	return 0;
}

int history_query_read(const struct http_request *request, struct history_window *ret,
		       struct diag *diag)
{
	struct history_window window = { .seconds = SECONDS_DEFAULT, .owners = OWNERS_DEFAULT };
	uint32_t width_s;
	int r = read_number(request, "seconds", 1, HISTORY_DAY_S, &window.seconds, diag);

	if (r < 0)
		return r;
	width_s = window.seconds > HISTORY_HOUR_S ? HISTORY_COARSE_S : HISTORY_FINE_S;
	window.step_s = (window.seconds / STEPS_DEFAULT / width_s + 1) * width_s;
	r = read_number(request, "step", 1, HISTORY_DAY_S, &window.step_s, diag);
	if (r == 0)
		r = read_number(request, "owners", 0, HISTORY_OWNERS_MAX, &window.owners, diag);
	if (r == 0)
		r = check_step(&window, diag);
	if (r == 0)
		*ret = window;
	return r;
}
