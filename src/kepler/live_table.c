// SPDX-License-Identifier: Apache-2.0
#include "kepler/live_table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "base/utf8.h"

#define CHROME_LINES 10 /* lines of a frame that are not processes */

/*
 * Columns: a pid and what follows it, CPU and power have fixed ones; owners have what is left, and
 * where that is too little to read, none.
 */
#define PID_COLUMNS   10 /* with two blanks behind it */
#define VALUE_COLUMNS 18 /* " 100.0" and "  12.34 W" */
#define OWNER_MIN     8
#define OWNER_MAX     60
#define MARGIN        5 /* free at the right, where it can be had */

struct widths {
	size_t command, owner; /* owner 0: it is not shown */
};

struct line {
	uint32_t process;
	double watts; /* NaN while not known */
	uint64_t cpu_ns;
};

/*
 * Chooses a kind with known power, if there is one: a meter that was found late does not count at
 * once.
 */
static bool choose_kind(const struct interval_engine *engine, enum zone_kind *ret_kind)
{
	bool is_there[ZONE_KIND_COUNT] = { false }, has_power[ZONE_KIND_COUNT] = { false };
	const struct layout *layout = ledger_layout(interval_engine_ledger(engine));

	for (uint32_t i = 0; i < layout->account_count; i++) {
		enum zone_kind kind = layout_account_zone(layout, i)->kind;

		is_there[kind] = true;
		has_power[kind] |= interval_engine_account_span_ns(engine, i) > 0;
	}
	return zone_kind_to_show(has_power, ret_kind) || zone_kind_to_show(is_there, ret_kind);
}

/* NaN while @span_ns is not known. µJ in ns are kW. */
static double watts(uint64_t energy_uj, uint64_t span_ns)
{
	return span_ns ? (double)energy_uj * 1e3 / (double)span_ns : (double)NAN;
}

static double zone_watts(const struct interval_engine *engine, size_t z, uint64_t energy_uj)
{
	return watts(energy_uj, interval_engine_span_ns(engine, z));
}

/* Σ over the accounts of @kind of the modes, of a row of deltas; NaN while one is not known. */
static double row_watts(const struct interval_engine *engine, enum zone_kind kind,
			const uint64_t *deltas)
{
	const struct layout *layout = ledger_layout(interval_engine_ledger(engine));
	double sum = 0;

	for (uint32_t i = 0; i < layout->account_count; i++) {
		if (layout_account_zone(layout, i)->kind == kind)
			sum += watts(account_sum(&layout->accounts[i], deltas),
				     interval_engine_account_span_ns(engine, i));
	}
	return sum;
}

static int compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	/* Both are NaN or neither is; then CPU time decides. */
	if (x->watts < y->watts || x->watts > y->watts)
		return x->watts < y->watts ? 1 : -1;
	if (x->cpu_ns != y->cpu_ns)
		return x->cpu_ns < y->cpu_ns ? 1 : -1;
	return x->process < y->process ? -1 : x->process > y->process;
}

static size_t collect_lines(const struct interval_engine *engine, enum zone_kind kind,
			    struct line **ret_lines)
{
	const struct ledger *ledger = interval_engine_ledger(engine);
	size_t touched_count, count = 0;
	const uint32_t *touched = ledger_touched(ledger, LEVEL_PROCESS, &touched_count);
	struct line *lines = calloc(touched_count ? touched_count : 1, sizeof(*lines));

	for (size_t i = 0; lines && i < touched_count; i++) {
		const uint64_t *deltas = ledger_deltas(ledger, LEVEL_PROCESS, touched[i]);

		if (!deltas || !deltas[ledger_cpu_column(ledger)])
			continue;
		lines[count++] = (struct line){ touched[i], row_watts(engine, kind, deltas),
						deltas[ledger_cpu_column(ledger)] };
	}
	if (lines)
		qsort(lines, count, sizeof(*lines), compare_lines);
	*ret_lines = lines;
	return count;
}

/*
 * Untrusted bytes for a terminal: printable characters only, cut to @width columns with "…" in the
 * last one. The columns that it takes.
 */
static size_t add_text(struct strbuf *out, const char *text, size_t width)
{
	size_t len = strlen(text), used = 0;

	for (size_t i = 0; i < len && used < width; used++) {
		size_t n = utf8_char_len(text + i, len - i);

		if (used + 1 == width && i + (n ? n : 1) < len) {
			strbuf_add_str(out, "…");
			i = len;
			continue;
		}
		if (n == 0 || (n == 1 && ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)) ||
		    (n == 2 && (unsigned char)text[i] == 0xc2 &&
		     (unsigned char)text[i + 1] < 0xa0)) {
			strbuf_add_char(out, '?');
			i += n ? n : 1;
			continue;
		}
		strbuf_add(out, text + i, n);
		i += n;
	}
	return used;
}

/* The same, padded. */
static void add_cell(struct strbuf *out, const char *text, size_t width)
{
	for (size_t used = add_text(out, text, width); used < width; used++)
		strbuf_add_char(out, ' ');
}

static void add_power(struct strbuf *out, double watts)
{
	if (isnan(watts))
		strbuf_add_str(out, "       –  ");
	else
		strbuf_addf(out, "%8.*f W", watts < 100 ? 2 : 1, watts);
}

/*
 * The source, and whether it is measured or estimated: cut to the terminal, so that no line wraps.
 */
static void add_title(struct strbuf *out, const struct live_table_view *view, size_t columns)
{
	size_t used = strlen("Kepler  ");

	strbuf_addf(out, "%sKepler%s  ", view->colour ? "\033[1m" : "",
		    view->colour ? "\033[0m" : "");
	(void)add_text(out, view->url, columns > used ? columns - used : 1);
	strbuf_add_char(out, '\n');
	(void)add_text(out, view->source, columns);
	strbuf_add_str(out, "\n\n");
}

static void add_node_power(struct strbuf *out, const struct interval_engine *engine,
			   enum zone_kind kind, size_t columns)
{
	CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT;
	const struct ledger *ledger = interval_engine_ledger(engine);
	double dynamic = 0, idle = 0, error_w = 0;
	bool estimated = false;

	for (uint32_t z = 0; z < interval_engine_zone_count(engine); z++) {
		if (interval_engine_zone(engine, z)->kind != kind)
			continue;
		dynamic += zone_watts(engine, z, ledger_node_delta(ledger, z, MODE_DYNAMIC));
		idle += zone_watts(engine, z, ledger_node_delta(ledger, z, MODE_IDLE));
		estimated |= interval_engine_zone(engine, z)->quality == QUALITY_ESTIMATED;
		/* At most one of a kind is estimated now. */
		if (interval_engine_error_w(engine, z) > 0)
			error_w = interval_engine_error_w(engine, z);
	}
	strbuf_addf(&line, "%s%s:", zone_kind_name(kind), estimated ? " (estimated)" : "");
	add_power(&line, dynamic + idle);
	if (error_w > 0)
		strbuf_addf(&line, " ±%.1f W", error_w);
	if (idle > 0)
		strbuf_addf(&line, "   (idle %.1f W, dynamic %.1f W)", idle, dynamic);
	(void)add_text(out, line.data ? line.data : "", columns);
	strbuf_add_str(out, "\n\n");
}

static void add_line(struct strbuf *out, const struct interval_engine *engine,
		     const struct line *line, const struct widths *widths)
{
	const struct ledger *ledger = interval_engine_ledger(engine);
	const struct ledger_process *process = ledger_process_at(ledger, line->process);
	const struct owner_names *names = ledger_container_at(ledger, process->container)->names;
	const char *pod = names->text[LABEL_POD_ID];
	char name[2 * OWNER_NAME_MAX + 2];
	double seconds = (double)interval_engine_elapsed_ns(engine) / 1e9;

	strbuf_addf(out, "%8u  ", process->pid);
	add_cell(out, process->comm, widths->command);
	if (pod[0])
		(void)snprintf(name, sizeof(name), "%s/%s", names->text[LABEL_NAMESPACE],
			       names->text[LABEL_POD_NAME]);
	if (widths->owner) {
		strbuf_add_char(out, ' ');
		add_cell(out, pod[0] ? name : names->text[LABEL_CONTAINER_NAME], widths->owner);
	}
	strbuf_addf(out, " %7.1f", seconds > 0 ? (double)line->cpu_ns / 1e7 / seconds : 0.0);
	add_power(out, line->watts);
	strbuf_add_char(out, '\n');
}

static struct widths choose_widths(size_t columns)
{
	size_t taken = PID_COLUMNS + VALUE_COLUMNS + LEDGER_COMM_MAX + 1;
	struct widths widths = { .command = LEDGER_COMM_MAX };

	if (columns >= taken + OWNER_MIN) {
		widths.owner = columns - taken;
		widths.owner -= widths.owner >= OWNER_MIN + MARGIN ? MARGIN : 0;
		widths.owner = widths.owner < OWNER_MAX ? widths.owner : OWNER_MAX;
	} else if (columns < taken) {
		widths.command = columns > PID_COLUMNS + VALUE_COLUMNS
					 ? columns - PID_COLUMNS - VALUE_COLUMNS
					 : 1;
	}
	return widths;
}

static void add_header(struct strbuf *out, bool colour, const struct widths *widths)
{
	strbuf_addf(out, "%s%8s  ", colour ? "\033[7m" : "", "PID");
	add_cell(out, "COMMAND", widths->command);
	if (widths->owner)
		strbuf_addf(out, " %-*s", (int)widths->owner, "OWNER");
	strbuf_addf(out, " %7s %9s%s\n", "CPU %", "POWER", colour ? "\033[0m" : "");
}

int live_table_draw(const struct interval_engine *engine, const struct live_table_view *view,
		    struct strbuf *out)
{
	enum zone_kind kind = ZONE_PACKAGE;
	bool has_zone = choose_kind(engine, &kind);
	unsigned rows = view->rows ? view->rows : 24, columns = view->columns ? view->columns : 80;
	const struct widths widths = choose_widths(columns);
	CLEANUP_FREE struct line *lines = NULL;
	size_t limit, count;

	limit = rows > CHROME_LINES ? rows - CHROME_LINES : 1;
	count = collect_lines(engine, kind, &lines);
	if (!lines)
		return -ENOMEM;
	if (view->url[0])
		add_title(out, view, columns);
	if (has_zone)
		add_node_power(out, engine, kind, columns);
	add_header(out, view->colour, &widths);
	for (size_t i = 0; i < count && i < limit; i++)
		add_line(out, engine, &lines[i], &widths);
	if (count > limit)
		strbuf_addf(out, "          … and %zu more that ran\n", count - limit);
	if (view->url[0])
		strbuf_add_str(out, "\nCtrl-C stops it.\n");
	return strbuf_error(out);
}
