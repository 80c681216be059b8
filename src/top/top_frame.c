// SPDX-License-Identifier: Apache-2.0
/*
 * Columns are a table, in order of the line; each has the width of the terminal from which on it is
 * shown. A frame is made in UTF-8; for a terminal without it, each character is replaced by one of
 * ASCII at the end, so that widths stay.
 */
#include "top/top_frame.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/text/ascii.h"
#include "base/text/cell_text.h"
#include "base/text/utf8.h"
#include "base/text/watts_text.h"

#define COMMAND_WIDTH   16
#define OWNER_WIDTH_MIN 8
#define OWNER_WIDTH_MAX 60
#define SPARK_WIDTH     20

#define BOLD            "\033[1m"
#define REVERSE         "\033[7m"
#define DIM             "\033[2m"
#define YELLOW          "\033[33m"
#define CYAN            "\033[36m"
#define PLAIN           "\033[0m"
#define ERASE           "\033[K" /* the rest of the line */

#define BARS            8
static const char *const bars[BARS] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };

enum column {
	COLUMN_PID,
	COLUMN_COMMAND,
	COLUMN_OWNER,
	COLUMN_CPU,
	COLUMN_WATTS,
	COLUMN_SHARE,
	COLUMN_JOULES,
	COLUMN_MONTH,
	COLUMN_COST,
	COLUMN_CARBON,
	COLUMN_SPARK,
	COLUMNS,
};

/* Numbers have a blank in front of them, which is in their width. */
static const struct {
	const char *head;
	unsigned width;
	unsigned from; /* columns of the terminal */
	int sort;      /* enum top_sort that marks its head; -1: none */
} column_info[COLUMNS] = {
	[COLUMN_PID] = { "PID", 8, 50, -1 },
	[COLUMN_COMMAND] = { "COMMAND", COMMAND_WIDTH, 0, TOP_BY_NAME },
	[COLUMN_OWNER] = { "OWNER", 0, 60, -1 },
	[COLUMN_CPU] = { "CPU %", 8, 34, TOP_BY_CPU },
	[COLUMN_WATTS] = { "POWER", 11, 0, TOP_BY_WATTS },
	[COLUMN_SHARE] = { "SHARE", 7, 88, -1 },
	[COLUMN_JOULES] = { "JOULES", 10, 72, TOP_BY_JOULES },
	[COLUMN_MONTH] = { "KWH/MONTH", 11, 100, -1 },
	[COLUMN_COST] = { "/MONTH", 11, 114, -1 }, /* behind the currency */
	[COLUMN_CARBON] = { "G CO2/H", 10, 126, -1 },
	[COLUMN_SPARK] = { "RECENT", SPARK_WIDTH + 2, 124, -1 },
};

/* The columns of this frame, and their widths; 0: not shown. */
struct grid {
	unsigned width[COLUMNS];
};

/* Is there anything to show in it? */
static bool has_column(const struct top_state *state, const struct top_style *style,
		       enum column column)
{
	if (column == COLUMN_PID || column == COLUMN_OWNER)
		return state->view == LEVEL_PROCESS;
	if (column == COLUMN_COST)
		return now_rates_have_price(&state->reading.rates);
	if (column == COLUMN_CARBON)
		return now_rates_have_carbon(&state->reading.rates);
	return column != COLUMN_SPARK || style->is_screen;
}

static struct grid choose_columns(const struct top_state *state, const struct top_style *style)
{
	struct grid grid = { { 0 } };
	unsigned taken = 0, command = COMMAND_WIDTH;

	for (enum column column = 0; column < COLUMNS; column++) {
		bool fits = state->columns >= column_info[column].from &&
			    has_column(state, style, column);

		grid.width[column] = fits ? column_info[column].width : 0;
		taken += grid.width[column];
	}
	if (state->columns >= column_info[COLUMN_OWNER].from || state->view != LEVEL_PROCESS)
		command = state->view == LEVEL_PROCESS ? COMMAND_WIDTH : OWNER_WIDTH_MAX;
	taken -= COMMAND_WIDTH;
	if (state->view == LEVEL_PROCESS && state->columns >= column_info[COLUMN_OWNER].from &&
	    state->columns > taken + COMMAND_WIDTH + 2 + OWNER_WIDTH_MIN) {
		unsigned owner = state->columns - taken - COMMAND_WIDTH - 2;

		grid.width[COLUMN_OWNER] = owner < OWNER_WIDTH_MAX ? owner : OWNER_WIDTH_MAX;
	}
	if (state->columns < taken + command + 2)
		command = state->columns > taken + 2 ? state->columns - taken - 2 : 1;
	grid.width[COLUMN_COMMAND] = command;
	return grid;
}

/* "12.3k": four digits at most, for what grows without end. */
static void joules_text(char buf[static 16], double joules)
{
	static const char units[] = { ' ', 'k', 'M', 'G', 'T' };
	size_t unit = 0;

	while (joules >= 9999.5 && unit + 1 < sizeof(units)) {
		joules /= 1000;
		unit++;
	}
	if (isfinite(joules))
		(void)snprintf(buf, 16, "%.*f%c",
			       joules < 10     ? 2
			       : joules < 1000 ? 1
					       : 0,
			       joules, units[unit]);
	else
		(void)snprintf(buf, 16, "– ");
}

/* Right-aligned by characters, not bytes: "–" has three. */
static void add_right(struct strbuf *out, const char *text, unsigned width)
{
	size_t characters = 0, len = strlen(text);

	for (size_t i = 0; i < len; characters++) {
		size_t n = utf8_char_len(text + i, len - i);

		i += n ? n : 1;
	}
	for (; characters < width; characters++)
		strbuf_add_char(out, ' ');
	strbuf_add_str(out, text);
}

static void add_number(struct strbuf *out, double value, int decimals, unsigned width)
{
	char text[48];

	if (isfinite(value))
		(void)snprintf(text, sizeof(text), "%.*f", decimals, value);
	else
		(void)snprintf(text, sizeof(text), "–");
	add_right(out, text, width);
}

/* A number that follows from the power: "~" marks it if that is estimated. */
static void add_follow_up(struct strbuf *out, double value, bool is_estimated, unsigned width)
{
	char text[48];

	if (isfinite(value))
		(void)snprintf(text, sizeof(text), "%s%.2f", is_estimated ? "~" : "", value);
	else
		(void)snprintf(text, sizeof(text), "–");
	add_right(out, text, width);
}

static void add_watts(struct strbuf *out, double watts, bool is_estimated, unsigned width)
{
	char text[WATTS_TEXT_MAX], marked[WATTS_TEXT_MAX + 4];

	watts_text(text, watts);
	(void)snprintf(marked, sizeof(marked), "%s%s W", is_estimated ? "~" : "", text);
	add_right(out, marked, width);
}

static size_t bar_of(double value, double most)
{
	double bar = most > 0 ? value / most * BARS : 0;

	return bar <= 0 ? 0 : bar >= BARS ? BARS - 1 : (size_t)bar;
}

static void add_spark(struct strbuf *out, const struct top_state *state,
		      const struct top_line *line)
{
	float values[SPARK_WIDTH];
	size_t known = top_sparks_get(&state->sparks, line->key, values, SPARK_WIDTH);
	float most = 0;

	strbuf_add_str(out, "  ");
	for (size_t i = 0; i < SPARK_WIDTH; i++)
		most = values[i] > most ? values[i] : most;
	for (size_t i = 0; i < SPARK_WIDTH; i++) {
		if (SPARK_WIDTH - i > known || line->is_owner || line->row->is_other)
			strbuf_add_char(out, ' ');
		else
			strbuf_add_str(out, bars[bar_of((double)values[i], (double)most)]);
	}
}

/* The text of a row's first text column. */
static const char *name_of(const struct top_state *state, const struct top_line *line, char *buf,
			   size_t size)
{
	const struct now_row *row = line->row;
	const char *owner = row->owner[0] ? row->owner : "(no name)";

	if (row->is_other && state->reading.left_out)
		(void)snprintf(buf, size, "… and %u more", state->reading.left_out);
	else if (row->is_other)
		(void)snprintf(buf, size, "… others");
	else if (line->is_owner || state->view != LEVEL_PROCESS)
		(void)snprintf(buf, size, "%s", owner);
	else
		(void)snprintf(buf, size, "%s%s", line->is_indented ? "  " : "", row->command);
	return buf;
}

static void add_pid(struct strbuf *out, const struct top_line *line, unsigned width)
{
	if (line->row->pid && !line->is_owner)
		strbuf_addf(out, "%*u", (int)width, line->row->pid);
	else
		strbuf_addf(out, "%*s", (int)width, "");
}

static void add_cells(struct strbuf *out, const struct top_state *state, const struct grid *grid,
		      const struct top_line *line)
{
	const struct now_reading *reading = &state->reading;
	char text[NOW_TEXT_SIZE + 8];
	unsigned name_width = grid->width[COLUMN_COMMAND];

	if (grid->width[COLUMN_PID])
		add_pid(out, line, grid->width[COLUMN_PID]);
	strbuf_add_str(out, grid->width[COLUMN_PID] ? "  " : " ");
	/* The name of an owner has the room of both. */
	if (line->is_owner || line->row->is_other) {
		name_width += grid->width[COLUMN_OWNER];
		cell_text_pad(out, name_of(state, line, text, sizeof(text)), name_width);
	} else {
		cell_text_pad(out, name_of(state, line, text, sizeof(text)), name_width - 1);
		strbuf_add_char(out, ' ');
		cell_text_pad(out, line->is_indented ? "" : line->row->owner,
			      grid->width[COLUMN_OWNER]);
	}
	if (grid->width[COLUMN_CPU])
		add_number(out, line->cpu_percent, 1, grid->width[COLUMN_CPU]);
	add_watts(out, line->watts, reading->is_estimated, grid->width[COLUMN_WATTS]);
	if (grid->width[COLUMN_SHARE])
		add_number(out, line->watts / reading->total_watts * 100, 1,
			   grid->width[COLUMN_SHARE]);
	if (grid->width[COLUMN_JOULES]) {
		joules_text(text, line->joules);
		add_right(out, text, grid->width[COLUMN_JOULES]);
	}
	if (grid->width[COLUMN_MONTH])
		add_follow_up(out, line->watts * HOURS_A_MONTH / 1000, reading->is_estimated,
			      grid->width[COLUMN_MONTH]);
	if (grid->width[COLUMN_COST])
		add_follow_up(out, now_cost_a_month(&reading->rates, line->watts),
			      reading->is_estimated, grid->width[COLUMN_COST]);
	if (grid->width[COLUMN_CARBON])
		add_follow_up(out, now_carbon_an_hour(&reading->rates, line->watts),
			      reading->is_estimated, grid->width[COLUMN_CARBON]);
}

static void end_line(struct strbuf *out, const struct top_style *style)
{
	strbuf_add_str(out, style->is_screen ? ERASE "\r\n" : "\n");
}

static void begin(struct strbuf *out, const struct top_style *style, const char *how)
{
	strbuf_add_str(out, style->colour ? how : "");
}

static void add_line(struct strbuf *out, const struct top_state *state,
		     const struct top_style *style, const struct grid *grid, size_t index)
{
	const struct top_line *line = &state->lines[index];
	bool is_selected = style->is_screen && index == state->selected;

	if (is_selected)
		begin(out, style, REVERSE);
	else if (line->is_owner)
		begin(out, style, BOLD);
	else if (line->row->is_other)
		begin(out, style, DIM);
	add_cells(out, state, grid, line);
	if (grid->width[COLUMN_SPARK]) {
		begin(out, style, PLAIN CYAN); /* as the graph of the node */
		add_spark(out, state, line);
	}
	begin(out, style, PLAIN);
	end_line(out, style);
}

/* The name of the level in capitals; of a process, of its command. */
static void write_head(const struct top_state *state, enum column column, char *ret, size_t size)
{
	bool is_level = column == COLUMN_COMMAND && state->view != LEVEL_PROCESS;

	(void)snprintf(ret, size, "%s%s",
		       column == COLUMN_COST ? state->reading.rates.currency : "",
		       is_level ? view_name(state->view) : column_info[column].head);
	for (; is_level && *ret; ret++)
		*ret = ascii_upper(*ret);
}

static void add_head(struct strbuf *out, const struct top_state *state,
		     const struct top_style *style, const struct grid *grid)
{
	const char *arrow = state->is_reversed ? "▴" : "▾";

	begin(out, style, REVERSE);
	for (enum column column = 0; column < COLUMNS; column++) {
		unsigned width = grid->width[column];
		bool is_text = column == COLUMN_COMMAND || column == COLUMN_OWNER ||
			       column == COLUMN_SPARK;
		char head[24], text[48];

		if (column == COLUMN_COMMAND)
			strbuf_add_str(out, grid->width[COLUMN_PID] ? "  " : " ");
		if (!width)
			continue;
		write_head(state, column, head, sizeof(head));
		(void)snprintf(text, sizeof(text), "%s%s%s", column == COLUMN_SPARK ? "  " : "",
			       head, column_info[column].sort == (int)state->sort ? arrow : "");
		if (is_text)
			cell_text_pad(out, text, width);
		else
			add_right(out, text, width);
	}
	begin(out, style, PLAIN);
	end_line(out, style);
}

/* A line of text, cut to the terminal. */
static void add_text(struct strbuf *out, const struct top_state *state,
		     const struct top_style *style, const char *how, const struct strbuf *text)
{
	begin(out, style, how);
	(void)cell_text_add(out, text->data ? text->data : "", state->columns);
	begin(out, style, PLAIN);
	end_line(out, style);
}

static void add_titles(struct strbuf *out, const struct top_state *state,
		       const struct top_style *style)
{
	for (size_t i = 0; style->titles[i]; i++) {
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

		strbuf_add_str(&text, style->titles[i]);
		add_text(out, state, style, i ? "" : BOLD, &text);
	}
	if (style->titles[0])
		end_line(out, style);
}

/* Where not all fit, those that do, from the one that is shown on. */
static void add_views(struct strbuf *text, const struct top_state *state)
{
	size_t used = text->len + sizeof("  []") - 1;
	bool fit;

	for (unsigned view = 0; view < VIEW_COUNT; view++)
		used += (view ? 2 : 0) + strlen(view_name(view));
	fit = used < state->columns;
	for (unsigned i = 0; i < VIEW_COUNT; i++) {
		unsigned view = fit ? i : (state->view + i) % VIEW_COUNT;

		if (!fit && i && text->len + 2 + strlen(view_name(view)) >= state->columns)
			return;
		strbuf_addf(text, view == state->view ? "  [%s]" : "  %s", view_name(view));
	}
}

static void add_title(struct strbuf *out, const struct top_state *state,
		      const struct top_style *style)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	strbuf_addf(&text, "Kepler  %s  %s", state->reading.node, style->clock);
	if (state->is_paused)
		strbuf_add_str(&text, "  PAUSED");
	if (state->is_following)
		strbuf_add_str(&text, "  following");
	if (style->is_screen)
		add_views(&text, state);
	add_text(out, state, style, BOLD, &text);
}

/* The parts are rounded so that they make the total. */
static void add_parts(struct strbuf *text, const struct now_reading *reading)
{
	struct watts_piece pieces[NOW_PARTS_MAX];

	for (size_t i = 0; i < reading->part_count; i++)
		pieces[i] = (struct watts_piece){
			.before = reading->parts[i].is_rest ? "rest of " : "",
			.name = reading->parts[i].zone,
			.power_uw = (uint64_t)llround(fmax(reading->parts[i].watts, 0) * 1e6),
		};
	watts_pieces_add(text, pieces, reading->part_count,
			 (uint64_t)llround(reading->total_watts * 1e6));
}

static void add_total(struct strbuf *out, const struct top_state *state,
		      const struct top_style *style)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	const struct now_reading *reading = &state->reading;
	char watts[WATTS_TEXT_MAX];

	if (isfinite(reading->total_watts)) {
		watts_text(watts, reading->total_watts);
		strbuf_addf(&text, "Node: %s W", watts);
	} else {
		strbuf_add_str(&text, "Node: not known");
	}
	if (reading->error_watts > 0) {
		watts_bound_text(watts, reading->error_watts);
		strbuf_addf(&text, " %s %s W", style->utf8 ? "±" : "+-", watts);
	}
	strbuf_add_str(&text, reading->is_estimated ? ", estimated" : "");
	if (isfinite(reading->total_watts)) {
		strbuf_add_str(&text, "   = ");
		add_parts(&text, reading);
	}
	add_text(out, state, style, reading->is_estimated ? YELLOW : BOLD, &text);
}

static void add_uses(struct strbuf *out, const struct top_state *state,
		     const struct top_style *style)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	const struct now_reading *reading = &state->reading;
	double idle = isfinite(reading->idle_watts) ? reading->idle_watts : 0;
	double charged = reading->total_watts - idle - reading->unattributed_watts;
	struct watts_piece pieces[] = {
		{ .name = "processes", .power_uw = (uint64_t)llround(fmax(charged, 0) * 1e6) },
		{ .name = "unattributed",
		  .power_uw = (uint64_t)llround(fmax(reading->unattributed_watts, 0) * 1e6) },
		{ .name = reading->idle_is_bound ? "idle ≤" : "idle",
		  .power_uw = (uint64_t)llround(idle * 1e6) },
	};

	if (isfinite(charged))
		watts_pieces_add(&text, pieces, isfinite(reading->idle_watts) ? 3 : 2,
				 (uint64_t)llround(reading->total_watts * 1e6));
	if (isfinite(reading->idle_watts) && reading->idle_is_bound)
		strbuf_add_str(&text, " (provisional)");
	if (text.len &&
	    (now_rates_have_price(&reading->rates) || now_rates_have_carbon(&reading->rates)))
		strbuf_add_str(&text, "   ");
	now_cost_add(&text, &reading->rates, reading->total_watts, reading->is_estimated);
	add_text(out, state, style, "", &text);
}

/* The total of the last minutes, between its least and its most. */
static void add_graph(struct strbuf *out, const struct top_state *state,
		      const struct top_style *style)
{
	size_t room = state->columns > 40 ? state->columns - 32 : 0;
	size_t count = state->history_count < room ? state->history_count : room;
	const double *values = state->history + state->history_count - count;
	double least = INFINITY, most = 0;
	char low[WATTS_TEXT_MAX], high[WATTS_TEXT_MAX];

	for (size_t i = 0; i < count; i++) {
		if (!isfinite(values[i]))
			continue;
		least = fmin(least, values[i]);
		most = fmax(most, values[i]);
	}
	if (isfinite(least)) {
		begin(out, style, CYAN);
		for (size_t i = 0; i < count; i++)
			strbuf_add_str(
				out,
				isfinite(values[i])
					? bars[bar_of(values[i] - least * 0.9, most - least * 0.9)]
					: " ");
		begin(out, style, PLAIN);
		watts_text(low, least);
		watts_text(high, most);
		strbuf_addf(out, "  %s to %s W", low, high);
	}
	end_line(out, style);
}

#define HINTS_LEAST "  ? help  q quit" /* to be had on any screen */

/* The power of the rows for which the screen has no room: with these, it adds up. */
static void add_below(struct strbuf *text, const struct top_state *state)
{
	char watts[WATTS_TEXT_MAX], below_text[WATTS_TEXT_MAX + 16];
	double below = 0;

	for (size_t i = state->first + top_state_page(state); i < state->line_count; i++) {
		if (!state->lines[i].is_owner && isfinite(state->lines[i].watts))
			below += state->lines[i].watts;
	}
	if (below <= 0)
		return;
	watts_text(watts, below);
	(void)snprintf(below_text, sizeof(below_text), "Below: %s%s W",
		       state->reading.is_estimated ? "~" : "", watts);
	if (strlen(below_text) + sizeof(HINTS_LEAST) <= state->columns)
		strbuf_add_str(text, below_text);
}

/* Whole words: as many as fit, in the order in which they are needed. */
static void add_hints(struct strbuf *text, const struct top_state *state)
{
	static const char *const hints[] = { "? help",    "q quit", "/ filter", "s sort",
					     "Tab level", "t tree", "F follow", "p pause" };

	for (size_t i = 0; i < ARRAY_SIZE(hints); i++) {
		if (text->len + 2 + strlen(hints[i]) >= state->columns)
			return;
		strbuf_addf(text, "%s%s", text->len ? "  " : "", hints[i]);
	}
}

static void add_foot(struct strbuf *out, const struct top_state *state,
		     const struct top_style *style)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	const char *how = DIM;

	if (state->is_typing || state->filter[0]) {
		strbuf_addf(&text, "Filter: %s%s", state->filter, state->is_typing ? "_" : "");
		strbuf_addf(&text, "   (%s)",
			    state->is_typing ? "Enter keeps it, Esc clears it" : "Esc clears it");
		how = BOLD;
	} else if (style->notice) {
		strbuf_add_str(&text, style->notice);
		how = YELLOW;
	} else {
		add_below(&text, state);
		add_hints(&text, state);
	}
	begin(out, style, how);
	(void)cell_text_add(out, text.data ? text.data : "", state->columns - 1);
	begin(out, style, PLAIN);
	strbuf_add_str(out, ERASE);
}

static void add_help(struct strbuf *out, const struct top_state *state,
		     const struct top_style *style)
{
	static const char *const lines[] = {
		"Keys",
		"",
		"  Up Down PgUp PgDn Home End   move the bar (also j, k and the mouse wheel)",
		"  Tab, Left, Right, 1 to 8     processes, containers, pods, VMs, namespaces,",
		"                               services, users, GPUs",
		"                               (with --at, Left and Right move through time)",
		"  s, or W J C N                sort by power, joules, CPU time, name",
		"  r                            reverse the order",
		"  f or /                       filter by name, owner or pid; Esc clears it",
		"  t                            tree: owners with their processes",
		"  F                            the bar follows its row",
		"  p or space                   pause",
		"  ? or h                       this help",
		"  q or Ctrl-C                  quit",
		"",
		"POWER is the mean of the last interval. ~ marks estimated values: no meter",
		"counted that energy. JOULES are counted since the row began. KWH/MONTH is",
		"what the present power comes to in a month; money and CO2 are with the PUE of",
		"the site, if it is configured, and appear where a rate is known.",
	};
	size_t room = state->rows > 1 ? state->rows - 1 : 1;

	for (size_t i = 0; i < ARRAY_SIZE(lines) && i < room; i++) {
		CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

		strbuf_add_str(&text, lines[i]);
		add_text(out, state, style, i ? "" : BOLD, &text);
	}
}

/* The characters outside ASCII that a frame may contain; any other one becomes "?". */
static const struct {
	const char *character;
	char replacement;
} replacements[] = {
	{ "▁", '_' }, { "▂", '.' }, { "▃", ':' }, { "▄", '-' }, { "▅", '=' },
	{ "▆", '+' }, { "▇", '*' }, { "█", '#' }, { "…", '.' }, { "·", '|' },
	{ "–", '-' }, { "≤", '<' }, { "▾", 'v' }, { "▴", '^' },
};

static char replacement_of(const char *character, size_t len)
{
	for (size_t i = 0; i < ARRAY_SIZE(replacements); i++) {
		if (strlen(replacements[i].character) == len &&
		    memcmp(replacements[i].character, character, len) == 0)
			return replacements[i].replacement;
	}
	return '?';
}

static void add_as_ascii(struct strbuf *out, const struct strbuf *frame)
{
	for (size_t i = 0; i < frame->len;) {
		size_t n = utf8_char_len(frame->data + i, frame->len - i);

		n = n ? n : 1;
		strbuf_add_char(out, n == 1 ? frame->data[i] : replacement_of(frame->data + i, n));
		i += n;
	}
}

static void draw(const struct top_state *state, const struct top_style *style, struct strbuf *out)
{
	const struct grid grid = choose_columns(state, style);
	size_t page = style->is_screen ? top_state_page(state) : state->line_count;

	if (style->is_screen && state->shows_help) {
		add_help(out, state, style);
		return;
	}
	if (style->titles)
		add_titles(out, state, style);
	else
		add_title(out, state, style);
	add_total(out, state, style);
	add_uses(out, state, style);
	if (style->is_screen)
		add_graph(out, state, style);
	end_line(out, style);
	add_head(out, state, style, &grid);
	for (size_t i = 0; i < page; i++) {
		if (state->first + i < state->line_count)
			add_line(out, state, style, &grid, state->first + i);
		else
			end_line(out, style);
	}
	if (style->is_screen)
		add_foot(out, state, style);
}

int top_frame_draw(const struct top_state *state, const struct top_style *style, struct strbuf *out)
{
	CLEANUP(strbuf_release) struct strbuf frame = STRBUF_INIT;

	if (style->utf8) {
		draw(state, style, out);
		return strbuf_error(out);
	}
	draw(state, style, &frame);
	add_as_ascii(out, &frame);
	return strbuf_error(&frame) < 0 ? strbuf_error(&frame) : strbuf_error(out);
}

int top_frame_of(const struct strbuf *answer, const struct top_style *style, unsigned columns,
		 struct strbuf *out)
{
	struct now_reading reading = { 0 };
	CLEANUP_FREE struct top_state *state = calloc(1, sizeof(*state));
	int r = state ? now_reading_parse(answer->data, answer->len, &reading, NULL) : -ENOMEM;

	if (r < 0)
		return r;
	r = top_state_resize(state, 1, columns);
	if (r == 0)
		r = top_state_take(state, &reading);
	if (r == 0)
		r = top_frame_draw(state, style, out);
	now_reading_release(&reading);
	top_state_release(state);
	return r;
}
