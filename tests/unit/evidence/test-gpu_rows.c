// SPDX-License-Identifier: Apache-2.0
#include "evidence/pages/gpu_rows.h"

#include "tests/unit/unit.h"

#define A "GPU-00000000-0000-4000-8000-000000000000"
#define B "GPU-00000001-0000-4000-8000-000000000001"

/* A series with two labels; a NULL ends them. */
static void take(struct gpu_rows *rows, const char *name, const char *value, const char *name_2,
		 const char *value_2, double joules)
{
	struct page_series series = { .name = "kepler_node_gpu_joules_total",
				      .label_count = name_2 ? 2 : 1,
				      .label_name = { name, name_2 },
				      .label_value = { value, value_2 } };

	gpu_rows_take(rows, &series, joules);
}

static void modes_of_a_gpu_are_one_row(void **state)
{
	struct gpu_rows rows = { .count = 0 };

	for (int page = 0; page < 3; page++) {
		gpu_rows_begin(&rows);
		take(&rows, "package", A, "mode", "dynamic", page > 0 ? 30 : 0);
		take(&rows, "package", A, "mode", "idle", page > 0 ? 20 : 0);
		take(&rows, "package", B, "mode", "dynamic", page > 0 ? 7 : 0);
		assert_int_equal(gpu_rows_end(&rows, "url", page), 0);
	}
	gpu_rows_finish(&rows);
	assert_int_equal(rows.count, 2);
	const struct gpu_row *row = gpu_rows_find(&rows, A, 1);
	assert_non_null(row);
	assert_true(fabs(row->joules - 100) < 1e-9);
	assert_true(fabs(series_amount(row->series, 0, 2).amount - 100) < 1e-9);
	assert_ptr_not_equal(gpu_rows_find(&rows, B, 0), row);
	assert_false(rows.are_incomplete);
	gpu_rows_release(&rows);
}

/* A UUID counts before an index; without any UUID, the index counts. */
static void a_gpu_is_found_by_its_uuid_or_else_its_number(void **state)
{
	struct gpu_rows both = { .count = 0 }, numbers = { .count = 0 };

	take(&both, "gpu", "0", "gpu_uuid", B, 1);
	take(&both, "gpu", "1", "gpu_uuid", A, 1);
	assert_string_equal(gpu_rows_find(&both, A, 0)->index, "1");
	assert_null(gpu_rows_find(&both, "GPU-2", 0));
	take(&numbers, "package", "0", NULL, NULL, 1);
	take(&numbers, "gpu", "1", NULL, NULL, 1);
	assert_string_equal(gpu_rows_find(&numbers, A, 1)->index, "1");
	assert_null(gpu_rows_find(&numbers, A, 2));
}

static void a_series_without_a_gpu_is_known(void **state)
{
	struct gpu_rows rows = { .count = 0 };

	take(&rows, "mode", "dynamic", NULL, NULL, 1);
	assert_true(rows.are_incomplete);
	assert_int_equal(rows.count, 0);
	rows.are_incomplete = false;
	for (int i = 0; i <= GPU_ROWS_MAX; i++) {
		char number[16];

		(void)snprintf(number, sizeof(number), "%d", i);
		assert_false(rows.are_incomplete);
		take(&rows, "gpu", number, NULL, NULL, 1);
	}
	assert_true(rows.are_incomplete);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modes_of_a_gpu_are_one_row),
		cmocka_unit_test(a_gpu_is_found_by_its_uuid_or_else_its_number),
		cmocka_unit_test(a_series_without_a_gpu_is_known),
	};
	return unit_run(tests);
}
