// SPDX-License-Identifier: Apache-2.0
/*
 * The picture of power has its rows in the order of their power; for another order, pointers to the
 * rows are sorted. Rows beyond the limit are added to "other", so that the sum stays the same.
 */
#include "export/now_page.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/num.h"
#include "export/json_keys.h"
#include "host/user_names.h"
#include "rates/rates.h"
#include "snapshot/zone_picture.h"

/* A client that sees a part of the rows gets steps of 1000. */
static void add_micro(struct strbuf *out, const struct now_query *query, const char *key,
		      bool is_known, uint64_t value)
{
	if (query->shows)
		value -= value % 1000;
	if (is_known)
		json_add_scaled(out, key, value, 6);
	else
		json_add_number(out, key, (double)NAN);
}

/* The power of a zone, in the same steps. */
static void add_watts(struct strbuf *out, const struct now_query *query, double watts)
{
	bool is_known = watts >= 0 && watts < 1e12;

	add_micro(out, query, "watts", is_known, is_known ? (uint64_t)(watts * 1e6 + 0.5) : 0);
}

static void add_error(struct strbuf *out, double watts)
{
	if (watts > 0 && watts < 1e12)
		json_add_scaled(out, "error_watts", (uint64_t)(watts * 1e6 + 0.5), 6);
	else
		json_add_number(out, "error_watts", (double)NAN);
}

/* One that another source has taken over from has no power any more. */
static void add_zones(struct strbuf *out, const struct now_query *query,
		      const struct snapshot *snapshot)
{
	json_add_key(out, "zones");
	strbuf_add_char(out, '[');
	for (uint32_t z = 0; z < snapshot->zone_count; z++) {
		const struct snapshot_zone *zone = &snapshot->zones[z];

		if (zone->ended)
			continue;
		json_begin_item(out);
		json_add_text(out, "zone", zone_kind_name(zone->zone.kind));
		json_add_text(out, "package", zone->zone.instance);
		json_add_text(out, "source", zone->zone.source);
		json_add_text(out, "quality", zone_quality_name(zone->zone.quality));
		add_watts(out, query, snapshot_zone_watts(zone));
		json_add_flag(out, "in_total", zone->total != TOTAL_NONE);
		strbuf_add_char(out, '}');
	}
	strbuf_add_char(out, ']');
}

static void add_parts(struct strbuf *out, const struct now_query *query,
		      const struct power_picture *power)
{
	json_add_key(out, "parts");
	strbuf_add_char(out, '[');
	for (uint32_t i = 0; i < power->part_count; i++) {
		const struct power_part *part = &power->parts[i];

		json_begin_item(out);
		json_add_text(out, "zone", zone_kind_name(part->kind));
		json_add_flag(out, "rest", part->is_rest);
		json_add_text(out, "quality", zone_quality_name(part->quality));
		add_micro(out, query, "watts", true, part->power_uw);
		strbuf_add_char(out, '}');
	}
	strbuf_add_char(out, ']');
}

/* The use of a row, or of several rows. */
struct use {
	uint64_t power_uw, energy_uj, cpu_ns;
	bool lacks_energy; /* users have no sums since the start */
};

static void add_use(struct strbuf *out, const struct now_query *query,
		    const struct power_picture *power, const struct use *use)
{
	if (power->elapsed_ns)
		json_add_scaled(
			out, "cpu_percent",
			(uint64_t)((double)use->cpu_ns * 1e8 / (double)power->elapsed_ns + 0.5), 6);
	else
		json_add_number(out, "cpu_percent", (double)NAN);
	add_micro(out, query, "watts", power->is_known, use->power_uw);
	add_micro(out, query, "joules", !use->lacks_energy, use->energy_uj);
	strbuf_add_char(out, '}');
}

/* The name of the row of @level that @row belongs to, where the picture has it. */
static void add_belonging(struct strbuf *out, const struct power_picture *power,
			  const struct power_row *row, enum level level)
{
	if (row->belongs_to[level] != POWER_ROW_NONE)
		json_add_text(out, level_info[level].name,
			      power->rows[row->belongs_to[level]].owner);
}

static void add_belongings(struct strbuf *out, const struct power_picture *power,
			   const struct power_row *row)
{
	uint32_t container = row->belongs_to[LEVEL_CONTAINER];

	add_belonging(out, power, row, LEVEL_CONTAINER);
	if (container != POWER_ROW_NONE)
		row = &power->rows[container];
	for (enum level level = LEVEL_GROUPS; level < LEVEL_COUNT; level++)
		add_belonging(out, power, row, level);
}

/* A user is called by its name, where that is known. */
static void add_owner(struct strbuf *out, const struct now_query *query,
		      const struct power_row *row)
{
	const char *name =
		query->view == VIEW_USER ? user_names_find(query->users, row->number) : NULL;

	json_add_text(out, "owner", name ? name : row->owner);
	if (query->view == VIEW_USER)
		strbuf_addf(out, ",\"uid\":%u", row->number);
}

static void add_row(struct strbuf *out, const struct now_query *query,
		    const struct power_picture *power, const struct power_row *row)
{
	const struct use use = { row->power_uw, row->energy_uj, row->cpu_ns,
				 query->view == VIEW_USER };

	json_begin_item(out);
	if (row->pid)
		json_add_scaled(out, "pid", row->pid, 0);
	else
		strbuf_add_str(out, "\"pid\":null");
	json_add_text(out, "command", row->command);
	add_owner(out, query, row);
	add_belongings(out, power, row);
	add_use(out, query, power, &use);
}

static void add_other(struct strbuf *out, const struct now_query *query,
		      const struct power_picture *power, const struct use *other)
{
	json_begin_item(out);
	strbuf_add_str(out, "\"pid\":null");
	json_add_text(out, "command", "other");
	json_add_text(out, "owner", "");
	add_use(out, query, power, other);
}

struct ordered_row {
	const struct power_row *row;
};

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int by_joules(const void *a, const void *b)
{
	return compare_u64(((const struct ordered_row *)a)->row->energy_uj,
			   ((const struct ordered_row *)b)->row->energy_uj);
}

static int by_cpu(const void *a, const void *b)
{
	return compare_u64(((const struct ordered_row *)a)->row->cpu_ns,
			   ((const struct ordered_row *)b)->row->cpu_ns);
}

static int by_name(const void *a, const void *b)
{
	const struct power_row *x = ((const struct ordered_row *)a)->row;
	const struct power_row *y = ((const struct ordered_row *)b)->row;
	int order = strcmp(x->command, y->command);

	return order ? order : strcmp(x->owner, y->owner);
}

/* The rows that the client may see, in order. *ret_count; NULL without memory. */
static struct ordered_row *choose_rows(const struct now_query *query,
				       const struct power_picture *power, uint32_t *ret_count)
{
	static int (*const compare[])(const void *, const void *) = { [NOW_BY_WATTS] = NULL,
								      [NOW_BY_JOULES] = by_joules,
								      [NOW_BY_CPU] = by_cpu,
								      [NOW_BY_NAME] = by_name };
	const struct power_list *list = &power->view[query->view];
	struct ordered_row *rows = calloc(list->count + 1, sizeof(*rows));
	uint32_t count = 0;

	for (uint32_t i = 0; rows && i < list->count; i++) {
		const struct power_row *row = &power->rows[list->first + i];

		if (!query->shows || query->shows(query->userdata, row))
			rows[count++].row = row;
	}
	if (rows && compare[query->sort])
		qsort(rows, count, sizeof(*rows), compare[query->sort]);
	*ret_count = count;
	return rows;
}

static int add_rows(struct strbuf *out, const struct now_query *query,
		    const struct power_picture *power)
{
	const struct power_list *list = &power->view[query->view];
	struct use other = { list->other_uw, list->other_uj, list->other_cpu_ns,
			     query->view == VIEW_USER };
	uint32_t count, shown;
	CLEANUP_FREE struct ordered_row *rows = choose_rows(query, power, &count);

	if (!rows)
		return -ENOMEM;
	shown = count < query->limit ? count : query->limit;
	json_add_text(out, "level", view_name(query->view));
	if (!query->shows)
		strbuf_addf(out, ",\"left_out\":%u", list->left_out + count - shown);
	json_add_key(out, "rows");
	strbuf_add_char(out, '[');
	for (uint32_t i = 0; i < shown; i++)
		add_row(out, query, power, rows[i].row);
	for (uint32_t i = shown; i < count; i++) {
		other.power_uw += rows[i].row->power_uw;
		other.energy_uj += rows[i].row->energy_uj;
		other.cpu_ns += rows[i].row->cpu_ns;
	}
	if (!query->shows)
		add_other(out, query, power, &other);
	strbuf_add_char(out, ']');
	return 0;
}

/*
 * This program itself, where the picture has it. In a PID namespace of its own, another process has
 * its number.
 */
static void add_exporter(struct strbuf *out, const struct now_query *query,
			 const struct power_picture *power)
{
	const struct power_list *list = &power->view[LEVEL_PROCESS];
	uint32_t own = (uint32_t)getpid();

	for (uint32_t i = 0; !query->shows && i < list->count; i++) {
		const struct power_row *row = &power->rows[list->first + i];
		const struct use use = { row->power_uw, row->energy_uj, row->cpu_ns, false };

		if (row->pid != own || strcmp(row->command, program_invocation_short_name) != 0)
			continue;
		json_add_key(out, "exporter");
		strbuf_addf(out, "{\"pid\":%u", own);
		add_use(out, query, power, &use);
		return;
	}
	json_add_number(out, "exporter", (double)NAN);
}

/* For readers that multiply. A rate that is not known is null, and so is all of it. */
static void add_rates(struct strbuf *out, const struct snapshot *snapshot)
{
	const struct rate_values *rates = rates_in(snapshot->health, snapshot->health_count);

	if (!rates) {
		json_add_number(out, "rates", (double)NAN);
		return;
	}
	json_add_key(out, "rates");
	strbuf_add_char(out, '{');
	json_add_number(out, "price_per_kwh", rates->price_per_kwh);
	json_add_text(out, "currency", rates->currency);
	json_add_number(out, "carbon_grams_per_kwh", rates->carbon_g_per_kwh);
	json_add_text(out, "carbon_source", rates->carbon_source);
	json_add_text(out, "carbon_kind", rates->carbon_kind);
	json_add_number(out, "pue", rates->pue);
	json_add_number(out, "embodied_grams_per_hour", rates->embodied_g_per_h);
	strbuf_add_char(out, '}');
}

/* Ends of lines are between items only. */
static void make_one_line(struct strbuf *out)
{
	char *at = out->data;

	while (at && (at = memchr(at, '\n', out->len - (size_t)(at - out->data))))
		*at = ' ';
}

static bool wants_rows(const struct now_query *query)
{
	return query->shows || query->view != LEVEL_PROCESS || query->sort != NOW_BY_WATTS ||
	       query->limit > POWER_TOP_PROCESSES;
}

static bool is_complete(const struct now_query *query, const struct power_picture *power)
{
	if (query->view == VIEW_USER)
		return power->has_users;
	return power->is_whole || !wants_rows(query);
}

int now_page(const struct snapshot *snapshot, const struct now_query *query, struct strbuf *out)
{
	const struct power_picture *power = snapshot ? snapshot->power : NULL;
	bool all;
	int r;

	if (!power)
		return -ENODATA;
	all = power->is_known && !query->shows;
	strbuf_add_char(out, '{');
	json_add_scaled(out, "time", power->realtime_ms > 0 ? (uint64_t)power->realtime_ms : 0, 3);
	json_add_text(out, "node", snapshot->node.node_name);
	json_add_text(out, "version", snapshot->node.version);
	add_micro(out, query, "total_watts", power->is_known, power->total_uw);
	add_error(out, power->error_w);
	json_add_flag(out, "estimated", power->is_estimated);
	add_micro(out, query, "idle_watts", all && power->has_idle, power->idle_uw);
	json_add_flag(out, "idle_provisional", power->idle_is_provisional);
	add_micro(out, query, "unattributed_watts", all, power->unattributed_uw);
	add_parts(out, query, power);
	add_zones(out, query, snapshot);
	add_exporter(out, query, power);
	add_rates(out, snapshot);
	json_add_flag(out, "complete", is_complete(query, power));
	r = add_rows(out, query, power);
	strbuf_add_char(out, '}');
	if (query->follow_s)
		make_one_line(out);
	strbuf_add_char(out, '\n');
	return r < 0 ? r : strbuf_error(out);
}

void now_query_want(const struct now_query *query, struct snapshot_holder *holder, uint64_t now_ns)
{
	if (query->view == VIEW_USER)
		snapshot_want_users(holder, now_ns);
	else if (wants_rows(query))
		snapshot_want_rows(holder, now_ns);
}

static int read_level(const char *text, struct now_query *query, struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT;

	for (unsigned view = 0; view < VIEW_COUNT; view++) {
		if (strcmp(text, view_name(view)) == 0) {
			query->view = view;
			return 0;
		}
		strbuf_addf(&names, "%s%s", view ? ", " : "", view_name(view));
	}
	return diag_set(diag, -EINVAL, "level: want one of %s, not \"%.40s\"",
			names.data ? names.data : "", text);
}

static int read_sort(const char *text, struct now_query *query, struct diag *diag)
{
	static const char *const names[] = { "watts", "joules", "cpu", "name" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(text, names[i]) == 0) {
			query->sort = (enum now_sort)i;
			return 0;
		}
	}
	return diag_set(diag, -EINVAL, "sort: want watts, joules, cpu or name, not \"%.40s\"",
			text);
}

static int read_limit(const char *text, struct now_query *query, struct diag *diag)
{
	uint64_t limit;

	if (parse_u64(text, strlen(text), &limit) < 0 || limit < 1 || limit > POWER_ROWS_MAX)
		return diag_set(diag, -EINVAL, "limit: want a number of 1 to %d, not \"%.40s\"",
				POWER_ROWS_MAX, text);
	query->limit = (uint32_t)limit;
	return 0;
}

static int read_follow(const char *text, struct now_query *query, struct diag *diag)
{
	uint64_t seconds;

	if (parse_u64(text, strlen(text), &seconds) < 0 || seconds < 1 || seconds > NOW_FOLLOW_MAX)
		return diag_set(diag, -EINVAL,
				"follow: want a number of seconds from 1 to %d, not \"%.40s\"",
				NOW_FOLLOW_MAX, text);
	query->follow_s = (uint32_t)seconds;
	return 0;
}

int now_query_read(const struct http_request *request, struct now_query *ret, struct diag *diag)
{
	static const struct {
		const char *name;
		int (*read)(const char *text, struct now_query *query, struct diag *diag);
	} arguments[] = { { "level", read_level },
			  { "sort", read_sort },
			  { "limit", read_limit },
			  { "follow", read_follow } };
	struct now_query query = { .view = LEVEL_PROCESS, .limit = POWER_TOP_PROCESSES };

	for (size_t i = 0; i < ARRAY_SIZE(arguments); i++) {
		const char *text = http_request_argument(request, arguments[i].name);
		int r = text ? arguments[i].read(text, &query, diag) : 0;

		if (r < 0)
			return r;
	}
	*ret = query;
	return 0;
}
