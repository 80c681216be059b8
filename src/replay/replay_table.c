// SPDX-License-Identifier: Apache-2.0
#include "replay/replay_table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/macro.h"

#define NAME_COLUMNS 34

struct line {
	uint32_t row;
	double uj; /* of all accounts, for the order */
};

static const char *const level_names[LEVEL_COUNT] = { "process", "container", "pod", "vm",
						      "namespace" };

static uint64_t account_sum_uj(const struct replay_books *books, enum level level, uint32_t row,
			       uint32_t account)
{
	const struct ledger *ledger = replay_books_kept(books)->ledger;

	return account_sum(&ledger_layout(ledger)->accounts[account],
			   ledger_values(ledger, level, row));
}

static uint64_t mode_uj(const struct replay_books *books, enum level level, uint32_t row,
			uint32_t account, enum energy_mode mode)
{
	const struct ledger *ledger = replay_books_kept(books)->ledger;

	return account_value(&ledger_layout(ledger)->accounts[account], mode,
			     ledger_values(ledger, level, row));
}

static bool is_used(const struct ledger *ledger, enum level level, uint32_t row)
{
	const struct level_table *table = ledger_level(ledger, level);
	const struct level_row *head = level_table_at(table, row);

	return head->used;
}

/* ---- sums ---- */

/* The energy of an account in all rows of a level, in all modes. */
static uint64_t level_uj(const struct replay_books *books, enum level level, uint32_t account)
{
	const struct ledger *ledger = replay_books_kept(books)->ledger;
	uint64_t sum_uj = 0;

	for (uint32_t row = 0; row < ledger_slots(ledger, level); row++) {
		if (is_used(ledger, level, row))
			sum_uj += account_sum_uj(books, level, row, account);
	}
	return sum_uj;
}

static uint64_t unattributed_uj(const struct replay_books *books, uint32_t account)
{
	const struct ledger *ledger = replay_books_kept(books)->ledger;
	const struct layout *layout = ledger_layout(ledger);
	uint64_t sum_uj = 0;

	for (uint32_t z = 0; z < layout->zone_count; z++) {
		if (layout->zones[z].account != account)
			continue;
		for (enum energy_mode mode = 0; mode < MODE_COUNT; mode++) {
			for (enum unattributed_reason reason = 0;
			     reason < UNATTRIBUTED_REASON_COUNT; reason++)
				sum_uj += ledger_unattributed_value(ledger, z, mode, reason);
		}
	}
	return sum_uj;
}

static uint64_t node_uj(const struct replay_books *books, uint32_t account)
{
	const struct ledger *ledger = replay_books_kept(books)->ledger;
	const struct layout *layout = ledger_layout(ledger);
	uint64_t sum_uj = 0;

	for (uint32_t z = 0; z < layout->zone_count; z++) {
		if (layout->zones[z].account == account)
			sum_uj += ledger_node_value(ledger, z, MODE_DYNAMIC) +
				  ledger_node_value(ledger, z, MODE_IDLE);
	}
	return sum_uj;
}

/* The energy that its meters counted, and the part that the accounting has left out. */
static void read_uj(const struct replay_books *books, uint32_t account, uint64_t *ret_read_uj,
		    uint64_t *ret_uncounted_uj)
{
	const struct layout *layout = ledger_layout(replay_books_kept(books)->ledger);

	*ret_read_uj = *ret_uncounted_uj = 0;
	for (uint32_t z = 0; z < layout->zone_count; z++) {
		if (layout->zones[z].account != account)
			continue;
		*ret_read_uj += replay_books_zone(books, z)->read_uj;
		*ret_uncounted_uj += replay_books_zone(books, z)->uncounted_uj;
	}
}

uint64_t replay_table_imbalance_uj(const struct replay_books *books)
{
	uint32_t accounts = ledger_layout(replay_books_kept(books)->ledger)->account_count;
	uint64_t off_uj = 0;

	for (uint32_t account = 0; account < accounts; account++) {
		uint64_t parts_uj =
			level_uj(books, LEVEL_CONTAINER, account) + unattributed_uj(books, account);
		uint64_t whole_uj = node_uj(books, account), counted_uj, uncounted_uj;

		off_uj += parts_uj > whole_uj ? parts_uj - whole_uj : whole_uj - parts_uj;
		read_uj(books, account, &counted_uj, &uncounted_uj);
		counted_uj -= uncounted_uj;
		off_uj += counted_uj > whole_uj ? counted_uj - whole_uj : whole_uj - counted_uj;
	}
	return off_uj;
}

static double other_uj(const struct replay_view *view, uint32_t row, uint32_t account)
{
	return (double)account_sum_uj(view->other, view->level, row, account);
}

/* ---- lines ---- */

static int by_energy(const void *a, const void *b)
{
	const struct line *one = a, *other = b;

	if (one->uj > other->uj || one->uj < other->uj)
		return one->uj > other->uj ? -1 : 1;
	return one->row < other->row ? -1 : one->row > other->row;
}

/* In the order of their energy, ours or the other's. */
static int find_lines(const struct replay_view *view, struct line **ret, size_t *ret_count)
{
	const struct ledger *ledger = replay_books_kept(view->books)->ledger;
	uint32_t accounts = ledger_layout(ledger)->account_count;
	uint32_t slots = ledger_slots(ledger, view->level);
	size_t count = 0;

	*ret = calloc((size_t)slots + 1, sizeof(**ret));
	if (!*ret)
		return -ENOMEM;
	for (uint32_t row = 0; row < slots; row++) {
		double uj = 0;

		if (!is_used(ledger, view->level, row))
			continue;
		for (uint32_t account = 0; account < accounts; account++)
			uj += (double)account_sum_uj(view->books, view->level, row, account) +
			      (view->other ? other_uj(view, row, account) : 0);
		if (uj > 0 || ledger_values(ledger, view->level, row)[COLUMN_CPU])
			(*ret)[count++] = (struct line){ row, uj };
	}
	qsort(*ret, count, sizeof(**ret), by_energy);
	*ret_count = count;
	return 0;
}

static const struct owner_names *names_of(const struct ledger *ledger, enum level level,
					  uint32_t row)
{
	if (level == LEVEL_PROCESS)
		row = ledger_process_at(ledger, row)->container;
	if (level <= LEVEL_CONTAINER)
		return ledger_container_at(ledger, row)->names;
	return ledger_group_at(ledger, level, row)->names;
}

static const char *text_of(const struct owner_names *names, enum label_key key)
{
	return names->text[key] ? names->text[key] : "";
}

/* For people: "4711 nginx (web)", "shop/web", "shop". */
static void name_row(const struct ledger *ledger, enum level level, uint32_t row, char *buf,
		     size_t size)
{
	const struct owner_names *names = names_of(ledger, level, row);
	const char *space = text_of(names, LABEL_NAMESPACE);

	if (level == LEVEL_PROCESS) {
		const struct ledger_process *process = ledger_process_at(ledger, row);

		(void)snprintf(buf, size, "%u %s (%s)", process->pid, process->comm,
			       text_of(names, LABEL_CONTAINER_NAME));
	} else if (level == LEVEL_VM) {
		(void)snprintf(buf, size, "%s %s", text_of(names, LABEL_VM_ID),
			       text_of(names, LABEL_VM_NAME));
	} else {
		const char *own = level == LEVEL_CONTAINER ? text_of(names, LABEL_CONTAINER_NAME)
				  : level == LEVEL_POD     ? text_of(names, LABEL_POD_NAME)
							   : "";

		(void)snprintf(buf, size, "%s%s%s", space, *space && *own ? "/" : "", own);
	}
}

/* ---- a table ---- */

static void add_cells(struct strbuf *out, bool has_second, double first, double second)
{
	strbuf_addf(out, " %14.6f", first / 1e6);
	if (has_second)
		strbuf_addf(out, " %14.6f %+13.6f", second / 1e6, (second - first) / 1e6);
}

static void add_title(const struct replay_view *view, struct strbuf *out)
{
	const struct layout *layout = ledger_layout(replay_books_kept(view->books)->ledger);

	strbuf_addf(out, "%-*s %10s", NAME_COLUMNS, level_names[view->level], "CPU s");
	for (uint32_t account = 0; account < layout->account_count; account++) {
		const struct zone *zone = layout_account_zone(layout, account);
		char id[ZONE_ID_MAX], title[ZONE_ID_MAX + 3];

		zone_id(zone, id);
		(void)snprintf(title, sizeof(title), "%s J",
			       layout->by_zone ? id : zone_kind_name(zone->kind));
		strbuf_addf(out, " %14s", title);
		if (view->other)
			strbuf_addf(out, " %14s %13s", "given", "difference");
	}
	strbuf_add_char(out, '\n');
}

static void add_line(const struct replay_view *view, uint32_t row, struct strbuf *out)
{
	const struct ledger *ledger = replay_books_kept(view->books)->ledger;
	char name[256], shown[NAME_COLUMNS * 4 + 1];
	struct strbuf clean = STRBUF_INIT;

	name_row(ledger, view->level, row, name, sizeof(name));
	strbuf_add_json(&clean, name);
	(void)snprintf(shown, sizeof(shown), "%.*s", NAME_COLUMNS, clean.data ? clean.data : "");
	strbuf_release(&clean);
	strbuf_addf(out, "%-*s %10.3f", NAME_COLUMNS, shown,
		    (double)ledger_values(ledger, view->level, row)[COLUMN_CPU] / 1e9);
	for (uint32_t account = 0; account < ledger_layout(ledger)->account_count; account++)
		add_cells(out, view->other,
			  (double)account_sum_uj(view->books, view->level, row, account),
			  view->other ? other_uj(view, row, account) : 0);
	strbuf_add_char(out, '\n');
}

/* The energy that is in no row of the level: of its containers, or of more rows than are shown. */
static void add_rest(const struct replay_view *view, const struct line *lines, size_t count,
		     size_t shown, struct strbuf *out)
{
	uint32_t accounts = ledger_layout(replay_books_kept(view->books)->ledger)->account_count;
	struct strbuf cells = STRBUF_INIT;
	bool is_some = false;

	for (uint32_t account = 0; account < accounts; account++) {
		double first = (double)level_uj(view->books, LEVEL_CONTAINER, account), second = 0;

		if (view->other)
			second = (double)level_uj(view->other, LEVEL_CONTAINER, account);
		for (size_t i = 0; i < shown; i++) {
			first -= (double)account_sum_uj(view->books, view->level, lines[i].row,
							account);
			if (view->other)
				second -= other_uj(view, lines[i].row, account);
		}
		is_some |= first > 0 || second > 0;
		add_cells(&cells, view->other, first, second);
	}
	if (is_some && strbuf_error(&cells) == 0)
		strbuf_addf(out, "%-*s %10s%s\n", NAME_COLUMNS,
			    shown < count ? "the rest" : "in no row", "", cells.data);
	strbuf_release(&cells);
}

static void add_sums(const struct replay_view *view, struct strbuf *out)
{
	uint32_t accounts = ledger_layout(replay_books_kept(view->books)->ledger)->account_count;

	strbuf_addf(out, "%-*s %10s", NAME_COLUMNS, "unattributed", "");
	for (uint32_t account = 0; account < accounts; account++) {
		double first = (double)unattributed_uj(view->books, account);

		add_cells(out, view->other, first,
			  view->other ? (double)unattributed_uj(view->other, account) : first);
	}
	strbuf_addf(out, "\n%-*s %10s", NAME_COLUMNS, "node", "");
	for (uint32_t account = 0; account < accounts; account++) {
		double first = (double)node_uj(view->books, account);

		add_cells(out, view->other, first,
			  view->other ? (double)node_uj(view->other, account) : first);
	}
	strbuf_add_char(out, '\n');
}

/* How much of the energy of an account is not where the other way of sharing has it: 0 to 1. */
static double displaced(const struct replay_view *view, const struct line *lines, size_t count,
			uint32_t account)
{
	double whole_uj = (double)node_uj(view->books, account);
	double sum_uj = fabs((double)unattributed_uj(view->books, account) -
			     (double)unattributed_uj(view->other, account));

	for (size_t i = 0; i < count; i++)
		sum_uj += fabs(
			(double)account_sum_uj(view->books, view->level, lines[i].row, account) -
			other_uj(view, lines[i].row, account));
	return whole_uj > 0 ? sum_uj / 2 / whole_uj : 0;
}

static void add_displaced(const struct replay_view *view, const struct line *lines, size_t count,
			  struct strbuf *out)
{
	const struct layout *layout = ledger_layout(replay_books_kept(view->books)->ledger);

	strbuf_add_char(out, '\n');
	for (uint32_t account = 0; account < layout->account_count; account++)
		strbuf_addf(out, "%s: %.3f %% of the energy is at another %s\n",
			    zone_kind_name(layout_account_zone(layout, account)->kind),
			    100 * displaced(view, lines, count, account), level_names[view->level]);
}

static void add_proof(const struct replay_view *view, struct strbuf *out)
{
	const struct layout *layout = ledger_layout(replay_books_kept(view->books)->ledger);

	strbuf_add_char(out, '\n');
	for (uint32_t account = 0; account < layout->account_count; account++) {
		const struct zone *zone = layout_account_zone(layout, account);
		uint64_t counted_uj, uncounted_uj;

		read_uj(view->books, account, &counted_uj, &uncounted_uj);
		strbuf_addf(out, "%s (%s): %llu µJ read", zone_kind_name(zone->kind), zone->source,
			    (unsigned long long)counted_uj);
		if (uncounted_uj)
			strbuf_addf(out,
				    ", %llu µJ of it not charged: another source is, or its series "
				    "had just begun",
				    (unsigned long long)uncounted_uj);
		strbuf_add_char(out, '\n');
	}
	strbuf_addf(out, "%llu intervals, %.3f s; rows + unattributed - meters = %llu µJ\n",
		    (unsigned long long)view->intervals, (double)view->length_ns / 1e9,
		    (unsigned long long)replay_table_imbalance_uj(view->books));
	if (view->lost)
		strbuf_addf(out, "%llu intervals were not recorded: the disk was full, or slow\n",
			    (unsigned long long)view->lost);
}

static void print_table(const struct replay_view *view, const struct line *lines, size_t count,
			struct strbuf *out)
{
	size_t shown = view->top && view->top < count ? view->top : count;

	if (view->other)
		strbuf_add_str(out, "with the recorded options, then with the given ones\n\n");
	add_title(view, out);
	for (size_t i = 0; i < shown; i++)
		add_line(view, lines[i].row, out);
	add_rest(view, lines, count, shown, out);
	add_sums(view, out);
	if (view->other)
		add_displaced(view, lines, count, out);
	add_proof(view, out);
}

/* ---- for machines ---- */

struct field {
	const char *name;
	char text[OWNER_NAME_MAX * 2 + 2];
};

#define FIELDS_MAX 6

static void set_field(struct field *field, const char *name, const char *text)
{
	field->name = name;
	(void)snprintf(field->text, sizeof(field->text), "%s", text);
}

/* The names of a row. Returns their number. */
static size_t fields_of(const struct ledger *ledger, enum level level, uint32_t row,
			struct field fields[FIELDS_MAX])
{
	const struct owner_names *names = names_of(ledger, level, row);
	size_t count = 0;

	if (level == LEVEL_PROCESS) {
		const struct ledger_process *process = ledger_process_at(ledger, row);

		(void)snprintf(fields[count].text, sizeof(fields->text), "%u", process->pid);
		fields[count++].name = "pid";
		(void)snprintf(fields[count].text, sizeof(fields->text), "%llu",
			       (unsigned long long)process->start_ns);
		fields[count++].name = "start_ns";
		set_field(&fields[count++], "comm", process->comm);
	}
	if (level <= LEVEL_CONTAINER)
		set_field(&fields[count++], "container_id", text_of(names, LABEL_CONTAINER_ID));
	if (level == LEVEL_CONTAINER)
		set_field(&fields[count++], "container_name", text_of(names, LABEL_CONTAINER_NAME));
	if (level == LEVEL_CONTAINER || level == LEVEL_POD)
		set_field(&fields[count++], "pod_name", text_of(names, LABEL_POD_NAME));
	if (level == LEVEL_VM)
		set_field(&fields[count++], "vm_id", text_of(names, LABEL_VM_ID));
	if (level == LEVEL_CONTAINER || level == LEVEL_POD || level == LEVEL_NAMESPACE)
		set_field(&fields[count++], "container_namespace", text_of(names, LABEL_NAMESPACE));
	return count;
}

static void add_json_row(const struct replay_view *view, uint32_t row, struct strbuf *out)
{
	const struct ledger *ledger = replay_books_kept(view->books)->ledger;
	const struct layout *layout = ledger_layout(ledger);
	struct field fields[FIELDS_MAX];
	size_t count = fields_of(ledger, view->level, row, fields);

	strbuf_add_char(out, '{');
	for (size_t i = 0; i < count; i++) {
		strbuf_addf(out, "\"%s\":\"", fields[i].name);
		strbuf_add_json(out, fields[i].text);
		strbuf_add_str(out, "\",");
	}
	strbuf_addf(out, "\"cpu_ns\":%llu,\"zones\":[",
		    (unsigned long long)ledger_values(ledger, view->level, row)[COLUMN_CPU]);
	for (uint32_t account = 0; account < layout->account_count; account++) {
		const struct zone *zone = layout_account_zone(layout, account);

		strbuf_addf(out,
			    "%s{\"zone\":\"%s\",\"source\":\"%s\",\"dynamic_uj\":%llu,"
			    "\"idle_uj\":%llu",
			    account ? "," : "", zone_kind_name(zone->kind), zone->source,
			    (unsigned long long)mode_uj(view->books, view->level, row, account,
							MODE_DYNAMIC),
			    (unsigned long long)mode_uj(view->books, view->level, row, account,
							MODE_IDLE));
		if (view->other)
			strbuf_addf(out, ",\"other_uj\":%.0f", other_uj(view, row, account));
		strbuf_add_char(out, '}');
	}
	strbuf_add_str(out, "]}");
}

static void add_json_sums(const struct replay_view *view, struct strbuf *out)
{
	const struct layout *layout = ledger_layout(replay_books_kept(view->books)->ledger);

	strbuf_addf(out, "\"off_uj\":%llu,\"sums\":[",
		    (unsigned long long)replay_table_imbalance_uj(view->books));
	for (uint32_t account = 0; account < layout->account_count; account++) {
		const struct zone *zone = layout_account_zone(layout, account);
		uint64_t counted_uj, uncounted_uj;

		read_uj(view->books, account, &counted_uj, &uncounted_uj);
		strbuf_addf(out,
			    "%s{\"zone\":\"%s\",\"source\":\"%s\",\"read_uj\":%llu,"
			    "\"uncounted_uj\":%llu,\"node_uj\":%llu,\"unattributed_uj\":%llu}",
			    account ? "," : "", zone_kind_name(zone->kind), zone->source,
			    (unsigned long long)counted_uj, (unsigned long long)uncounted_uj,
			    (unsigned long long)node_uj(view->books, account),
			    (unsigned long long)unattributed_uj(view->books, account));
	}
	strbuf_add_str(out, "]}\n");
}

static void print_json(const struct replay_view *view, const struct line *lines, size_t count,
		       struct strbuf *out)
{
	strbuf_addf(out, "{\"by\":\"%s\",\"intervals\":%llu,\"lost\":%llu,\"length_ns\":%llu,",
		    level_names[view->level], (unsigned long long)view->intervals,
		    (unsigned long long)view->lost, (unsigned long long)view->length_ns);
	if (view->other)
		strbuf_add_str(out, "\"other\":\"given\",");
	strbuf_add_str(out, "\"rows\":[");
	for (size_t i = 0; i < count; i++) {
		if (i)
			strbuf_add_str(out, ",\n");
		add_json_row(view, lines[i].row, out);
	}
	strbuf_add_str(out, "],\n");
	add_json_sums(view, out);
}

/* A text as a field of RFC 4180; one that a spreadsheet would calculate begins with a quote. */
static void add_csv_text(struct strbuf *out, const char *text)
{
	strbuf_add_char(out, '"');
	if (*text && strchr("=+-@\t\r", *text))
		strbuf_add_char(out, '\'');
	for (; *text; text++) {
		if (*text == '"')
			strbuf_add_char(out, '"');
		strbuf_add_char(out, (unsigned char)*text < ' ' ? '?' : *text);
	}
	strbuf_add_char(out, '"');
}

static void print_csv(const struct replay_view *view, const struct line *lines, size_t count,
		      struct strbuf *out)
{
	const struct ledger *ledger = replay_books_kept(view->books)->ledger;
	const struct layout *layout = ledger_layout(ledger);
	struct field fields[FIELDS_MAX];

	for (size_t i = 0; i < count; i++) {
		size_t names = fields_of(ledger, view->level, lines[i].row, fields);

		for (size_t field = 0; i == 0 && field < names; field++)
			strbuf_addf(out, "%s,", fields[field].name);
		if (i == 0)
			strbuf_addf(out, "zone,source,cpu_ns,dynamic_uj,idle_uj%s\n",
				    view->other ? ",other_uj" : "");
		for (uint32_t account = 0; account < layout->account_count; account++) {
			const struct zone *zone = layout_account_zone(layout, account);
			uint32_t row = lines[i].row;

			for (size_t field = 0; field < names; field++) {
				add_csv_text(out, fields[field].text);
				strbuf_add_char(out, ',');
			}
			strbuf_addf(out, "%s,%s,%llu,%llu,%llu", zone_kind_name(zone->kind),
				    zone->source,
				    (unsigned long long)ledger_values(ledger, view->level,
								      row)[COLUMN_CPU],
				    (unsigned long long)mode_uj(view->books, view->level, row,
								account, MODE_DYNAMIC),
				    (unsigned long long)mode_uj(view->books, view->level, row,
								account, MODE_IDLE));
			if (view->other)
				strbuf_addf(out, ",%.0f", other_uj(view, row, account));
			strbuf_add_char(out, '\n');
		}
	}
}

int replay_table_print(const struct replay_view *view, enum replay_format format,
		       struct strbuf *out)
{
	CLEANUP_FREE struct line *lines = NULL;
	size_t count = 0;
	int r = find_lines(view, &lines, &count);

	if (r < 0)
		return r;
	if (format == REPLAY_JSON)
		print_json(view, lines, count, out);
	else if (format == REPLAY_CSV)
		print_csv(view, lines, count, out);
	else
		print_table(view, lines, count, out);
	return strbuf_error(out);
}
