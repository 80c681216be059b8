/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state that `kepler top` shows and keys change: the newest reading, the power of the last
 * minutes, the order, the filter, the selected line. Pure: no terminal, no clock.
 *
 * The exporter sorts and cuts the rows, as far as it can (top_state_limit()); a filter, a tree and
 * an order by name or from the smallest need all of them, and are made here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attribution/view_info.h"
#include "top/now_reading.h"
#include "top/top_keys.h"
#include "top/top_sparks.h"

#define TOP_HISTORY     300 /* readings: five minutes at one a second */
#define TOP_FILTER_SIZE 48
#define TOP_HEAD_LINES  6 /* above the rows, the head of their columns included */
#define TOP_FOOT_LINES  1

enum top_sort { TOP_BY_WATTS, TOP_BY_JOULES, TOP_BY_CPU, TOP_BY_NAME, TOP_SORTS };

/* As in the argument of /api/v1/now. */
extern const char *const top_sort_names[TOP_SORTS];

/* A line: a row, or in a tree the owner of those that follow. */
struct top_line {
	const struct now_row *row; /* of the reading; of an owner, its first */
	bool is_owner;
	bool is_indented;
	double watts, cpu_percent, joules; /* of an owner, the sums of its rows */
	uint64_t key;
};

struct top_state {
	struct now_reading reading;  /* what is shown; row_count 0 and time_s 0: none yet */
	double history[TOP_HISTORY]; /* of the total, the newest last */
	size_t history_count;
	struct top_sparks sparks;
	unsigned view; /* attribution/view_info.h */
	enum top_sort sort;
	bool is_reversed, is_tree, is_paused, shows_help, is_typing, is_following, quits;
	char filter[TOP_FILTER_SIZE];
	unsigned rows, columns; /* of the terminal */
	struct top_line *lines; /* owned: those that pass the filter, in order */
	size_t line_count, line_room;
	size_t first, selected; /* lines: the first on the screen; the one with the bar */
	bool is_at_end;         /* the bar stays on the last line, whatever rows there are */
	uint64_t selected_key;
	uint32_t limit; /* rows that a reading is to have at least, from the options; 0: any */
};

void top_state_release(struct top_state *state);
/*
 * The reading becomes the one that is shown, and is the state's; while the display is paused it is
 * released. 0 or -ENOMEM.
 */
int top_state_take(struct top_state *state, struct now_reading *reading);
/* 0 or -ENOMEM. The terminal has that size now. */
int top_state_resize(struct top_state *state, unsigned rows, unsigned columns);
/* Follows a key. True if other rows are needed than the reading has. */
bool top_state_key(struct top_state *state, const struct top_event *event);
/* How many rows a reading is to have, without "other": 1 to NOW_ROWS_MAX - 1. */
uint32_t top_state_limit(const struct top_state *state);
/* Rows of the terminal for lines. */
size_t top_state_page(const struct top_state *state);
