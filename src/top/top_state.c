// SPDX-License-Identifier: Apache-2.0
#include "top/top_state.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/hash.h"

const char *const top_sort_names[TOP_SORTS] = { "watts", "joules", "cpu", "name" };

void top_state_release(struct top_state *state)
{
	now_reading_release(&state->reading);
	free(state->lines);
	state->lines = NULL;
	state->line_count = state->line_room = 0;
}

size_t top_state_page(const struct top_state *state)
{
	unsigned taken = TOP_HEAD_LINES + TOP_FOOT_LINES;

	return state->rows > taken ? state->rows - taken : 1;
}

static uint64_t key_of(const struct now_row *row, bool is_owner)
{
	uint64_t hash = hash64_byte(HASH64_START, is_owner);

	hash = hash64_text(hash, row->owner);
	if (is_owner)
		return hash | 1;
	hash = hash64_text(hash64_byte(hash, 0), row->command);
	return hash64_bytes(hash, (const char *)&row->pid, sizeof(row->pid)) | 1;
}

static bool contains(const char *text, const char *word)
{
	return strcasestr(text, word) != NULL;
}

static bool passes(const struct top_state *state, const struct now_row *row)
{
	char pid[16];

	if (!state->filter[0])
		return true;
	(void)snprintf(pid, sizeof(pid), "%u", row->pid);
	return !row->is_other &&
	       (contains(row->command, state->filter) || contains(row->owner, state->filter) ||
		(row->pid && strcmp(pid, state->filter) == 0));
}

static double amount(const struct top_line *line, enum top_sort sort)
{
	double value = sort == TOP_BY_JOULES ? line->joules
		       : sort == TOP_BY_CPU  ? line->cpu_percent
					     : line->watts;

	return isfinite(value) ? value : -1;
}

static int compare(const struct top_state *state, const struct top_line *a,
		   const struct top_line *b)
{
	double x = amount(a, state->sort), y = amount(b, state->sort);
	int order = x < y ? 1 : x > y ? -1 : 0;

	if (state->sort == TOP_BY_NAME)
		order = a->is_owner ? strcmp(a->row->owner, b->row->owner)
				    : strcmp(a->row->command, b->row->command);
	if (!order)
		order = a->row->pid < b->row->pid ? -1 : a->row->pid > b->row->pid;
	return state->is_reversed ? -order : order;
}

/* "other" stays last. */
static int by_order(const void *a, const void *b, void *state)
{
	const struct top_line *x = a, *y = b;

	if (x->row->is_other != y->row->is_other)
		return x->row->is_other ? 1 : -1;
	return compare(state, x, y);
}

/* The rows of one owner together, these in their order. */
static int by_owner(const void *a, const void *b, void *state)
{
	const struct top_line *x = a, *y = b;
	int order = strcmp(x->row->owner, y->row->owner);

	if (x->row->is_other != y->row->is_other)
		return x->row->is_other ? 1 : -1;
	return order ? order : compare(state, x, y);
}

static void add_line(struct top_state *state, const struct now_row *row)
{
	state->lines[state->line_count++] = (struct top_line){
		.row = row,
		.watts = row->watts,
		.cpu_percent = row->cpu_percent,
		.joules = row->joules,
		.key = key_of(row, false),
	};
}

/* An owner, and where its rows are among the lines that are sorted by owner. */
struct owner_sum {
	struct top_line line; /* first: owners are sorted as lines are */
	size_t first, count;
};

static struct owner_sum sum_owner(const struct top_line *lines, size_t first, size_t end)
{
	const struct now_row *row = lines[first].row;
	struct owner_sum sum = { .line = { .row = row, .is_owner = true, .key = key_of(row, true) },
				 .first = first };

	for (size_t i = first; i < end && lines[i].row->is_other == row->is_other &&
			       strcmp(lines[i].row->owner, row->owner) == 0;
	     i++) {
		sum.line.watts += lines[i].watts;
		sum.line.cpu_percent += lines[i].cpu_percent;
		sum.line.joules += lines[i].joules;
		sum.count++;
	}
	return sum;
}

/* The lines are sorted by owner; the tree has the owners in order, each followed by its rows. */
static void fill_tree(const struct top_state *state, const struct owner_sum *owners, size_t count,
		      struct top_line *tree, size_t *ret_filled)
{
	size_t filled = 0;

	for (size_t i = 0; i < count; i++) {
		bool is_other = owners[i].line.row->is_other;

		if (!is_other)
			tree[filled++] = owners[i].line;
		for (size_t j = 0; j < owners[i].count; j++) {
			tree[filled] = state->lines[owners[i].first + j];
			tree[filled++].is_indented = !is_other;
		}
	}
	*ret_filled = filled;
}

static int make_tree(struct top_state *state)
{
	size_t count = state->line_count, owner_count = 0;
	struct owner_sum *owners = calloc(count + 1, sizeof(*owners));
	struct top_line *tree = calloc(2 * count + 1, sizeof(*tree));

	if (!owners || !tree) {
		free(owners);
		free(tree);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i += owners[owner_count++].count)
		owners[owner_count] = sum_owner(state->lines, i, count);
	qsort_r(owners, owner_count, sizeof(*owners), by_order, state);
	fill_tree(state, owners, owner_count, tree, &state->line_count);
	free(owners);
	free(state->lines);
	state->lines = tree;
	state->line_room = 2 * count + 1;
	return 0;
}

/* The bar stays on its row if it follows it, else on its line. */
static void place_bar(struct top_state *state)
{
	size_t page = top_state_page(state);

	if (state->is_at_end && state->line_count)
		state->selected = state->line_count - 1;
	for (size_t i = 0; state->is_following && i < state->line_count; i++) {
		if (state->lines[i].key == state->selected_key)
			state->selected = i;
	}
	if (state->selected >= state->line_count)
		state->selected = state->line_count ? state->line_count - 1 : 0;
	if (state->line_count && !state->is_following)
		state->selected_key = state->lines[state->selected].key;
	if (state->selected < state->first)
		state->first = state->selected;
	if (state->selected >= state->first + page)
		state->first = state->selected - page + 1;
	if (state->first + page > state->line_count)
		state->first = state->line_count > page ? state->line_count - page : 0;
}

static int arrange(struct top_state *state)
{
	bool is_tree = state->is_tree && state->view == LEVEL_PROCESS;
	int r = ARRAY_RESERVE(state->lines, state->line_room, state->reading.row_count + 1);

	if (r < 0)
		return r;
	state->line_count = 0;
	for (size_t i = 0; i < state->reading.row_count; i++) {
		if (passes(state, &state->reading.rows[i]))
			add_line(state, &state->reading.rows[i]);
	}
	qsort_r(state->lines, state->line_count, sizeof(*state->lines),
		is_tree ? by_owner : by_order, state);
	r = is_tree ? make_tree(state) : 0;
	place_bar(state);
	return r;
}

static void add_history(struct top_state *state, double watts)
{
	if (state->history_count == TOP_HISTORY)
		memmove(state->history, state->history + 1,
			(TOP_HISTORY - 1) * sizeof(*state->history));
	else
		state->history_count++;
	state->history[state->history_count - 1] = watts;
}

int top_state_take(struct top_state *state, struct now_reading *reading)
{
	/* A source that is read less often has the same reading for a while. */
	bool is_new =
		reading->time_s > state->reading.time_s || reading->time_s < state->reading.time_s;

	if (state->is_paused) {
		now_reading_release(reading);
		return 0;
	}
	now_reading_release(&state->reading);
	state->reading = *reading;
	*reading = (struct now_reading){ 0 };
	if (is_new) {
		add_history(state, state->reading.total_watts);
		top_sparks_begin(&state->sparks);
		for (size_t i = 0; i < state->reading.row_count; i++)
			top_sparks_add(&state->sparks, key_of(&state->reading.rows[i], false),
				       state->reading.rows[i].watts);
	}
	return arrange(state);
}

int top_state_resize(struct top_state *state, unsigned rows, unsigned columns)
{
	state->rows = rows ? rows : 24;
	state->columns = columns ? columns : 80;
	return arrange(state);
}

static bool needs_all_rows(const struct top_state *state)
{
	return state->filter[0] || state->is_tree || state->is_reversed || state->is_following ||
	       state->is_at_end || state->sort == TOP_BY_NAME;
}

/* Whole pages, so that a step of the bar mostly needs no other rows. */
uint32_t top_state_limit(const struct top_state *state)
{
	size_t page = top_state_page(state);
	size_t limit = (state->first + page + page - 1) / page * page;

	if (limit < state->limit)
		limit = state->limit;
	if (needs_all_rows(state) || limit > NOW_ROWS_MAX - 1)
		limit = NOW_ROWS_MAX - 1;
	return (uint32_t)limit;
}

static void move_bar(struct top_state *state, long lines)
{
	long to = (long)state->selected + lines;

	if (to < 0 || !state->line_count)
		to = 0;
	else if (to >= (long)state->line_count)
		to = (long)state->line_count - 1;
	state->selected = (size_t)to;
	state->is_at_end = false;
	if (state->line_count)
		state->selected_key = state->lines[state->selected].key;
}

static void type(struct top_state *state, const struct top_event *event)
{
	size_t len = strlen(state->filter);

	if (event->key == KEY_CHARACTER && len + 1 < sizeof(state->filter)) {
		state->filter[len] = event->character;
		state->filter[len + 1] = '\0';
	} else if (event->key == KEY_BACKSPACE && len) {
		state->filter[len - 1] = '\0';
	} else if (event->key == KEY_ESCAPE) {
		state->filter[0] = '\0';
		state->is_typing = false;
	} else if (event->key == KEY_ENTER) {
		state->is_typing = false;
	}
}

static void change_view(struct top_state *state, int by)
{
	state->view = (unsigned)(((int)state->view + by + VIEW_COUNT) % VIEW_COUNT);
	state->first = state->selected = 0;
	state->is_at_end = false;
}

/* The keys of htop and btop, where these have one for it. */
static void obey_character(struct top_state *state, char character)
{
	switch (character) {
	case 'q':
		state->quits = true;
		break;
	case '?':
	case 'h':
		state->shows_help = !state->shows_help;
		break;
	case 'f':
	case '/':
		state->is_typing = true;
		break;
	case 't':
	case 'e':
		state->is_tree = !state->is_tree;
		break;
	case 'r':
		state->is_reversed = !state->is_reversed;
		break;
	case 'p':
	case ' ':
		state->is_paused = !state->is_paused;
		break;
	case 'F':
		state->is_following = !state->is_following;
		break;
	case 's':
		state->sort = (enum top_sort)((state->sort + 1) % TOP_SORTS);
		break;
	case 'W':
		state->sort = TOP_BY_WATTS;
		break;
	case 'J':
		state->sort = TOP_BY_JOULES;
		break;
	case 'P':
	case 'C':
		state->sort = TOP_BY_CPU;
		break;
	case 'N':
		state->sort = TOP_BY_NAME;
		break;
	case 'j':
		move_bar(state, 1);
		break;
	case 'k':
		move_bar(state, -1);
		break;
	default:
		if (character >= '1' && character < '1' + VIEW_COUNT)
			change_view(state, character - '1' - (int)state->view);
	}
}

static void obey_click(struct top_state *state, const struct top_event *event)
{
	if (event->row > TOP_HEAD_LINES && event->row <= TOP_HEAD_LINES + top_state_page(state))
		move_bar(state, (long)(state->first + event->row - TOP_HEAD_LINES - 1) -
					(long)state->selected);
	else if (event->row == TOP_HEAD_LINES)
		state->sort = (enum top_sort)((state->sort + 1) % TOP_SORTS);
}

static void obey_key(struct top_state *state, const struct top_event *event)
{
	long page = (long)top_state_page(state);

	switch (event->key) {
	case KEY_CHARACTER:
		obey_character(state, event->character);
		break;
	case KEY_HELP:
		state->shows_help = !state->shows_help;
		break;
	case KEY_ESCAPE:
		state->shows_help = false;
		state->filter[0] = '\0';
		break;
	case KEY_TAB:
	case KEY_RIGHT:
		change_view(state, 1);
		break;
	case KEY_LEFT:
		change_view(state, -1);
		break;
	case KEY_UP:
	case KEY_WHEEL_UP:
		move_bar(state, -1);
		break;
	case KEY_DOWN:
	case KEY_WHEEL_DOWN:
		move_bar(state, 1);
		break;
	case KEY_PAGE_UP:
		move_bar(state, -page);
		break;
	case KEY_PAGE_DOWN:
		move_bar(state, page);
		break;
	case KEY_HOME:
		move_bar(state, -(long)state->line_count);
		break;
	case KEY_END:
		move_bar(state, (long)state->line_count);
		state->is_at_end = true;
		break;
	case KEY_CLICK:
		obey_click(state, event);
		break;
	case KEY_NONE:
	case KEY_ENTER:
	case KEY_BACKSPACE:
	case KEY_INTERRUPT:
	case KEY_REDRAW:
		break;
	}
}

bool top_state_key(struct top_state *state, const struct top_event *event)
{
	unsigned view = state->view;
	enum top_sort sort = state->sort;
	bool was_paused = state->is_paused;
	uint32_t limit = top_state_limit(state);

	if (event->key == KEY_INTERRUPT)
		state->quits = true;
	else if (state->is_typing)
		type(state, event);
	else
		obey_key(state, event);
	(void)arrange(state); /* without memory, the lines before stay */
	return view != state->view || sort != state->sort || limit != top_state_limit(state) ||
	       (was_paused && !state->is_paused);
}
