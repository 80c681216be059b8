// SPDX-License-Identifier: Apache-2.0
#include "export/now_page.h"

#include <jansson.h>

#include "fixture.h"
#include "tests/unit/unit.h"

static const struct fixture_shape shape = { .zones = 4, .containers = 1, .processes = 1 };

static const struct now_query everything = { .view = LEVEL_PROCESS, .limit = 64 };

static json_t *load_query(const struct snapshot *snapshot, const struct now_query *query)
{
	struct strbuf page = STRBUF_INIT;
	json_t *root;

	assert_int_equal(now_page(snapshot, query, &page), 0);
	root = json_loadb(page.data, page.len, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	strbuf_release(&page);
	return root;
}

static json_t *load(const struct snapshot *snapshot)
{
	return load_query(snapshot, &everything);
}

static double number(const json_t *root, const char *key)
{
	assert_true(json_is_number(json_object_get(root, key)));
	return json_number_value(json_object_get(root, key));
}

static double sum(const json_t *root, const char *array)
{
	const json_t *rows = json_object_get(root, array);
	double watts = 0;

	for (size_t i = 0; i < json_array_size(rows); i++)
		watts += number(json_array_get(rows, i), "watts");
	return watts;
}

static void rows_idle_and_unattributed_make_the_total(void **state)
{
	struct fixture fixture;
	json_t *root, *rows;

	fixture_make(&fixture, &shape);
	fixture_power(&fixture);
	root = load(&fixture.snapshot);
	assert_true(fabs(number(root, "total_watts") - 198) < 1e-9);
	assert_true(fabs(sum(root, "rows") + number(root, "idle_watts") +
			 number(root, "unattributed_watts") - 198) < 1e-9);
	assert_true(fabs(sum(root, "parts") - 198) < 1e-9);
	rows = json_object_get(root, "rows");
	assert_int_equal(json_array_size(rows), 3);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(rows, 0), "pid")), 7);
	assert_true(number(json_array_get(rows, 0), "cpu_percent") >= 150);
	assert_true(json_is_null(json_object_get(json_array_get(rows, 2), "pid")));
	assert_int_equal(json_array_size(json_object_get(root, "zones")), 4);
	json_decref(root);
	fixture_release(&fixture);
}

static const char *text(const json_t *root, size_t row, const char *key)
{
	const json_t *rows = json_object_get(root, "rows");

	return json_string_value(json_object_get(json_array_get(rows, row), key));
}

static void the_limit_moves_rows_to_other(void **state)
{
	const struct now_query one = { .view = LEVEL_PROCESS, .limit = 1 };
	struct fixture fixture;
	json_t *root;

	fixture_make(&fixture, &shape);
	fixture_power(&fixture);
	root = load_query(&fixture.snapshot, &one);
	assert_int_equal(json_array_size(json_object_get(root, "rows")), 2);
	assert_true(fabs(number(json_array_get(json_object_get(root, "rows"), 1), "watts") - 31) <
		    1e-9);
	assert_true(fabs(sum(root, "rows") - 171) < 1e-9);
	assert_int_equal(json_integer_value(json_object_get(root, "left_out")), 4);
	json_decref(root);
	fixture_release(&fixture);
}

static void rows_are_of_the_level_in_the_order_asked_for(void **state)
{
	struct now_query query = { .view = LEVEL_CONTAINER, .limit = 9 };
	struct fixture fixture;
	json_t *root;

	fixture_make(&fixture, &shape);
	fixture_power(&fixture);
	root = load_query(&fixture.snapshot, &query);
	assert_string_equal(json_string_value(json_object_get(root, "level")), "container");
	assert_true(json_is_false(json_object_get(root, "complete")));
	assert_string_equal(text(root, 0, "owner"), "web in shop/checkout-7d9f");
	json_decref(root);
	query = (struct now_query){ .view = LEVEL_PROCESS, .sort = NOW_BY_NAME, .limit = 9 };
	fixture.power.is_whole = true;
	(void)snprintf(fixture.power.rows[0].command, LEDGER_COMM_MAX, "zsh");
	root = load_query(&fixture.snapshot, &query);
	assert_true(json_is_true(json_object_get(root, "complete")));
	assert_string_equal(text(root, 0, "command"), "reader");
	assert_string_equal(text(root, 1, "command"), "zsh");
	assert_string_equal(text(root, 1, "container"), "web in shop/checkout-7d9f");
	assert_null(text(root, 1, "pod"));
	json_decref(root);
	fixture_release(&fixture);
}

static bool is_pid(const void *pid, const struct power_row *process)
{
	return process->pid == *(const uint32_t *)pid;
}

/* Neither values of others, nor sums from which these follow, nor fine values. */
static void some_see_their_own_only(void **state)
{
	const uint32_t pid = 8;
	const struct now_query own = {
		.view = LEVEL_PROCESS, .limit = 64, .shows = is_pid, .userdata = &pid
	};
	struct fixture fixture;
	json_t *root;

	fixture_make(&fixture, &shape);
	fixture_power(&fixture);
	fixture.power.rows[1].power_uw += 999;
	fixture.power.rows[1].energy_uj += 999;
	root = load_query(&fixture.snapshot, &own);
	assert_int_equal(json_array_size(json_object_get(root, "rows")), 1);
	assert_string_equal(text(root, 0, "command"), "reader");
	assert_true(fabs(number(json_array_get(json_object_get(root, "rows"), 0), "watts") - 30) <
		    1e-9);
	assert_true(fabs(number(json_array_get(json_object_get(root, "rows"), 0), "joules") - 4) <
		    1e-9);
	assert_true(fabs(number(root, "total_watts") - 198) < 1e-9);
	assert_true(json_is_null(json_object_get(root, "idle_watts")));
	assert_true(json_is_null(json_object_get(root, "unattributed_watts")));
	assert_null(json_object_get(root, "left_out"));
	json_decref(root);
	fixture_release(&fixture);
}

static void names_stay_text(void **state)
{
	struct fixture fixture;
	json_t *root, *row;

	fixture_make(&fixture, &shape);
	fixture_power(&fixture);
	(void)snprintf(fixture.power.rows[0].command, LEDGER_COMM_MAX, "\"},{\\\n\xff");
	root = load(&fixture.snapshot);
	row = json_array_get(json_object_get(root, "rows"), 0);
	assert_string_equal(json_string_value(json_object_get(row, "command")),
			    "\"},{\\\n\xef\xbf\xbd");
	json_decref(root);
	fixture_release(&fixture);
}

static void what_is_not_known_is_null(void **state)
{
	struct strbuf page = STRBUF_INIT;
	struct fixture fixture;
	json_t *root, *row;

	assert_int_equal(now_page(NULL, &everything, &page), -ENODATA);
	fixture_make(&fixture, &shape);
	fixture_power(&fixture);
	fixture.power.is_known = false;
	fixture.power.elapsed_ns = 0;
	root = load(&fixture.snapshot);
	row = json_array_get(json_object_get(root, "rows"), 0);
	assert_true(json_is_null(json_object_get(root, "total_watts")));
	assert_true(json_is_null(json_object_get(root, "idle_watts")));
	assert_true(json_is_null(json_object_get(row, "watts")));
	assert_true(json_is_null(json_object_get(row, "cpu_percent")));
	json_decref(root);
	fixture_release(&fixture);
}

/* Clients that follow read line by line. */
static void an_answer_that_is_followed_is_one_line(void **state)
{
	struct now_query query = everything;
	struct strbuf page = STRBUF_INIT;
	struct fixture fixture;
	json_t *root, *other;

	fixture_make(&fixture, &shape);
	fixture_power(&fixture);
	query.follow_s = 1;
	assert_int_equal(now_page(&fixture.snapshot, &query, &page), 0);
	assert_ptr_equal(strchr(page.data, '\n'), page.data + page.len - 1);
	root = load(&fixture.snapshot);
	other = json_loadb(page.data, page.len, 0, NULL);
	assert_true(json_equal(root, other));
	json_decref(root);
	json_decref(other);
	strbuf_release(&page);
	fixture_release(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_idle_and_unattributed_make_the_total),
		cmocka_unit_test(the_limit_moves_rows_to_other),
		cmocka_unit_test(rows_are_of_the_level_in_the_order_asked_for),
		cmocka_unit_test(some_see_their_own_only),
		cmocka_unit_test(names_stay_text),
		cmocka_unit_test(what_is_not_known_is_null),
		cmocka_unit_test(an_answer_that_is_followed_is_one_line),
	};

	return unit_run(tests);
}
