// SPDX-License-Identifier: Apache-2.0
#include "export/live_table.h"

#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "base/text/cell_text.h"
#include "base/text/watts_text.h"
#include "snapshot/power_text.h"

#define CHROME_LINES    11   /* lines of a frame that are not processes */
#define OTHERS_LEAST_UW 5000 /* less would be shown as nothing */

/*
 * Columns: a pid and what follows it, CPU and power have fixed ones; owners have what is left, and
 * where that is too little to read, none.
 */
#define PID_COLUMNS   10 /* with two blanks after it */
#define VALUE_COLUMNS 18 /* " 100.0" and "  12.34 W" */
#define OWNER_MIN     8
#define OWNER_MAX     60
#define MARGIN        5 /* free at the right, where it can be had */

struct widths {
	size_t command, owner; /* owner 0: it is not shown */
};

/* The end of a line; no power while the total is not known. */
static void add_power(struct strbuf *out, const struct power_picture *picture, uint64_t power_uw)
{
	char text[WATTS_TEXT_MAX];

	watts_text(text, (double)power_uw / 1e6);
	if (picture->is_known)
		strbuf_addf(out, "%8s W\n", text);
	else
		strbuf_add_str(out, "       –  \n");
}

/*
 * The source, and whether it is measured or estimated: cut to the terminal, so that no line wraps.
 */
static void add_title(struct strbuf *out, const struct live_table_view *view, size_t columns)
{
	size_t used = strlen("Kepler  ");

	strbuf_addf(out, "%sKepler%s  ", view->colour ? "\033[1m" : "",
		    view->colour ? "\033[0m" : "");
	(void)cell_text_add(out, view->url, columns > used ? columns - used : 1);
	strbuf_add_char(out, '\n');
	(void)cell_text_add(out, view->source, columns);
	strbuf_add_str(out, "\n\n");
}

static void add_cut(struct strbuf *out, const struct strbuf *line, size_t columns)
{
	(void)cell_text_add(out, line->data ? line->data : "", columns);
	strbuf_add_char(out, '\n');
}

/* The node's power, what it is made of, and what it is used for. */
static void add_node_power(struct strbuf *out, const struct power_picture *picture, size_t columns)
{
	CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT;

	strbuf_add_str(&line, "Node: ");
	power_text_total(picture, &line);
	if (picture->is_known)
		strbuf_add_str(&line, "   = ");
	power_text_parts(picture, &line);
	add_cut(out, &line, columns);
	strbuf_reset(&line);
	power_text_uses(picture, &line);
	add_cut(out, &line, columns);
	strbuf_add_char(out, '\n');
}

/* Adds the share of one CPU; the percent sign is in the header. */
static void add_cpu(struct strbuf *out, const struct power_picture *picture, uint64_t cpu_ns)
{
	double seconds = (double)picture->elapsed_ns / 1e9;

	strbuf_addf(out, " %7.1f", seconds > 0 ? (double)cpu_ns / 1e7 / seconds : 0.0);
}

static void add_line(struct strbuf *out, const struct power_picture *picture,
		     const struct power_row *row, const struct widths *widths)
{
	strbuf_addf(out, "%8u  ", row->pid);
	cell_text_pad(out, row->command, widths->command);
	if (widths->owner) {
		strbuf_add_char(out, ' ');
		cell_text_pad(out, row->owner, widths->owner);
	}
	add_cpu(out, picture, row->cpu_ns);
	add_power(out, picture, row->power_uw);
}

/* Adds the processes without a line, so that the column sums up to the total of processes. */
static void add_others(struct strbuf *out, const struct power_picture *picture, uint32_t shown,
		       const struct widths *widths)
{
	const struct power_list *list = &picture->level[LEVEL_PROCESS];
	uint64_t power_uw = list->other_uw, cpu_ns = list->other_cpu_ns;
	uint32_t more = list->left_out + list->count - shown;
	char text[64];

	for (uint32_t i = shown; i < list->count; i++) {
		power_uw += picture->rows[list->first + i].power_uw;
		cpu_ns += picture->rows[list->first + i].cpu_ns;
	}
	if (!more && power_uw < OTHERS_LEAST_UW)
		return;
	(void)snprintf(text, sizeof(text), more ? "… and %u more" : "… work of no process", more);
	strbuf_addf(out, "%10s", "");
	cell_text_pad(out, text, widths->command + (widths->owner ? widths->owner + 1 : 0));
	add_cpu(out, picture, cpu_ns);
	add_power(out, picture, power_uw);
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
	cell_text_pad(out, "COMMAND", widths->command);
	if (widths->owner)
		strbuf_addf(out, " %-*s", (int)widths->owner, "OWNER");
	strbuf_addf(out, " %7s %9s%s\n", "CPU %", "POWER", colour ? "\033[0m" : "");
}

int live_table_draw(const struct power_picture *picture, const struct live_table_view *view,
		    struct strbuf *out)
{
	unsigned rows = view->rows ? view->rows : 24, columns = view->columns ? view->columns : 80;
	const struct power_list *list = &picture->level[LEVEL_PROCESS];
	const struct widths widths = choose_widths(columns);
	uint32_t limit = rows > CHROME_LINES ? rows - CHROME_LINES : 1;
	uint32_t shown = list->count < limit ? list->count : limit;

	if (view->url[0])
		add_title(out, view, columns);
	add_node_power(out, picture, columns);
	add_header(out, view->colour, &widths);
	for (uint32_t i = 0; i < shown; i++)
		add_line(out, picture, &picture->rows[list->first + i], &widths);
	add_others(out, picture, shown, &widths);
	if (view->url[0])
		strbuf_add_str(out, "\nCtrl-C stops it.\n");
	return strbuf_error(out);
}
