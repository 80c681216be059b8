// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/frame_table.h"

#include <stdlib.h>

#include "tests/unit/unit.h"

static const char *const names[LOAD_STAGES] = { "decode", "infer", "classify" };

/* 200 J of effect for 100 frames; inference took three quarters of the CPU time. */
static void a_frame_has_its_energy_by_stage(void **state)
{
	static const double charged_j[LOAD_STAGES] = { 45, 150, 10 };
	const struct load_result load = { .units = 100, .stage_cpu_s = { 2, 7.5, 0.5 } };
	struct result_table *table = frame_table_new(&load, names, charged_j, 200);

	assert_non_null(table);
	assert_int_equal(table->row_count, 4);
	assert_string_equal(table->rows[1].name, "infer");
	assert_true(fabs(table->rows[1].cells[0] - 7.5) < 1e-9);
	assert_true(fabs(table->rows[1].cells[1] - 1.5) < 1e-9);
	assert_true(fabs(table->rows[1].cells[2] - 1.5) < 1e-9);
	assert_true(fabs(table->rows[0].cells[1] - 0.4) < 1e-9);
	assert_true(fabs(table->rows[0].cells[4] - 1.125) < 1e-9);
	assert_string_equal(table->rows[3].name, "all");
	assert_true(fabs(table->rows[3].cells[1] - 2) < 1e-9);
	assert_true(fabs(table->rows[3].cells[3] - 0.05) < 1e-9);
	free(table);
}

static void without_frames_there_is_no_table(void **state)
{
	static const double charged_j[LOAD_STAGES] = { 0 };
	const struct load_result load = { .units = 0 };

	assert_null(frame_table_new(&load, names, charged_j, 200));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_has_its_energy_by_stage),
		cmocka_unit_test(without_frames_there_is_no_table),
	};
	return unit_run(tests);
}
