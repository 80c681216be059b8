// SPDX-License-Identifier: Apache-2.0
#include "evidence/pages/page_help.h"

#include "tests/unit/unit.h"

static void a_power_is_not_described_as_bytes(void **state)
{
	struct page_help *help = calloc(1, sizeof(*help));

	assert_non_null(help);
	page_help_begin(help);
	page_help_take(help, "x_read_bytes", "Data read from disk");
	page_help_take(help, "x_node_joules_total", "Energy");
	page_help_take(help, "x_pod_joules_total", "Energy");
	page_help_take(help, "x_node_watts", "");
	assert_int_equal(help->copied.count, 0);
	page_help_take(help, "x_power_microwatts", "Data read from disk");
	assert_int_equal(help->copied.count, 1);
	assert_non_null(strstr(help->copied.example, "x_read_bytes and x_power_microwatts"));
	page_help_begin(help);
	page_help_take(help, "x_power_microwatts", "Data read from disk");
	assert_int_equal(help->copied.count, 1);
	assert_int_equal(help->checked, 4);
	free(help);
}

static void more_descriptions_than_fit_are_left_out(void **state)
{
	struct page_help *help = calloc(1, sizeof(*help));

	assert_non_null(help);
	page_help_begin(help);
	for (int i = 0; i < 2 * PAGE_HELP_MAX; i++) {
		char text[32];

		(void)snprintf(text, sizeof(text), "Text %d", i);
		page_help_take(help, "x_bytes", text);
	}
	assert_int_equal(help->count, PAGE_HELP_MAX);
	free(help);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_power_is_not_described_as_bytes),
		cmocka_unit_test(more_descriptions_than_fit_are_left_out),
	};
	return unit_run(tests);
}
