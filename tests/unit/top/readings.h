/* SPDX-License-Identifier: Apache-2.0 */
/* Readings for the tests of this folder. */
#pragma once

#include <stdio.h>

#include "tests/unit/unit.h"
#include "top/top_state.h"

/* 198 W: four processes of two owners, and "other". */
static const char a_reading[] =
	"{\"time\":1000,\"node\":\"host\",\"version\":\"1.0\",\"total_watts\":198,"
	"\"error_watts\":null,\"estimated\":false,\"idle_watts\":26,\"idle_provisional\":false,"
	"\"unattributed_watts\":1,\"parts\":["
	"{\"zone\":\"package\",\"rest\":false,\"quality\":\"measured\",\"watts\":101},"
	"{\"zone\":\"psys\",\"rest\":true,\"quality\":\"measured\",\"watts\":97}],"
	"\"zones\":[],\"complete\":true,\"level\":\"process\",\"left_out\":3,\"rows\":["
	"{\"pid\":7,\"command\":\"burner\",\"owner\":\"shop/web\",\"cpu_percent\":150,"
	"\"watts\":90,\"joules\":5000},"
	"{\"pid\":8,\"command\":\"reader\",\"owner\":\"db\",\"cpu_percent\":90,"
	"\"watts\":50,\"joules\":90000},"
	"{\"pid\":9,\"command\":\"writer\",\"owner\":\"db\",\"cpu_percent\":60,"
	"\"watts\":20,\"joules\":7},"
	"{\"pid\":10,\"command\":\"a\\u001b]0;x\\u0007b\",\"owner\":\"db\",\"cpu_percent\":1,"
	"\"watts\":10,\"joules\":1},"
	"{\"pid\":null,\"command\":\"other\",\"owner\":\"\",\"cpu_percent\":0.5,"
	"\"watts\":1,\"joules\":12}]}";

static inline void take_text(struct top_state *state, const char *text)
{
	struct now_reading reading = { 0 };

	assert_int_equal(now_reading_parse(text, strlen(text), &reading, NULL), 0);
	assert_int_equal(top_state_take(state, &reading), 0);
	assert_null(reading.rows);
}

static inline void begin_state(struct top_state *state, unsigned rows, unsigned columns)
{
	memset(state, 0, sizeof(*state));
	assert_int_equal(top_state_resize(state, rows, columns), 0);
	take_text(state, a_reading);
}
