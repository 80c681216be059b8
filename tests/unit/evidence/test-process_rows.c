// SPDX-License-Identifier: Apache-2.0
#include "evidence/pages/process_rows.h"

#include <math.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define NOBODY "999999999" /* no kernel gives this pid */

static void take_counter(struct process_rows *rows, const char *name, double grown_s)
{
	char pid[16];

	(void)snprintf(pid, sizeof(pid), "%d", (int)getpid());
	const struct page_series series = { .name = "x",
					    .label_count = 2,
					    .label_name = { "pid", "command" },
					    .label_value = { pid, name } };
	process_rows_take(rows, &series, false, grown_s);
}

static void take(struct process_rows *rows, const char *pid, const char *name, const char *status)
{
	const struct page_series series = { .name = "x",
					    .label_count = 3,
					    .label_name = { "pid", "comm", "state" },
					    .label_value = { pid, name, status } };

	process_rows_take(rows, &series, strcmp(name, "kept") != 0, NAN);
}

/* A page with this process, one that does not exist, and one that has said that it ended. */
static void take_page(struct process_rows *rows, const char *own_name, const char *dead)
{
	char pid[16];

	(void)snprintf(pid, sizeof(pid), "%d", (int)getpid());
	take(rows, pid, own_name, "running");
	take(rows, pid, own_name, "running");
	take(rows, dead, "x", "running");
	take(rows, dead, "kept", "running"); /* a counter */
	take(rows, NOBODY, "y", "terminated");
	process_rows_end(rows);
}

static struct process_rows *new_rows(void)
{
	struct process_rows *rows = calloc(1, sizeof(*rows));

	assert_non_null(rows);
	rows->procfs = "/proc";
	return rows;
}

static void what_is_so_twice_is_a_fault(void **state)
{
	struct process_rows *rows = new_rows();

	take_page(rows, "not-my-name", NOBODY);
	assert_int_equal(rows->rows, 0);
	process_rows_look(rows, 100, 10);
	take_page(rows, "not-my-name", NOBODY);
	take_page(rows, "not-my-name", NOBODY);
	assert_int_equal(rows->rows, 4);
	assert_int_equal(rows->gauges, 3);
	process_rows_look(rows, 109, 10);
	take_page(rows, "not-my-name", NOBODY);
	assert_int_equal(rows->dead.count + rows->renamed.count, 0);
	process_rows_look(rows, 110, 10);
	take_page(rows, "not-my-name", NOBODY);
	assert_int_equal(rows->looks, 2);
	assert_int_equal(rows->dead.count, 1);
	assert_string_equal(rows->dead.example, "process " NOBODY);
	assert_int_equal(rows->renamed.count, 2);
	assert_non_null(strstr(rows->renamed.example, "not not-my-name"));
	assert_true(process_rows_are_ours(rows));
	free(rows);
}

/* In another PID namespace, this process' number is another process' there. */
static void a_process_of_the_same_number_is_not_ours(void **state)
{
	struct process_rows *rows = new_rows();
	char pid[16], dead[16];

	(void)snprintf(pid, sizeof(pid), "%d", (int)getpid());
	for (unsigned look = 0; look < 2; look++) {
		process_rows_look(rows, 100 + 10 * look, 10);
		take(rows, pid, "systemd", "running");
		for (unsigned i = 0; i < 20; i++) {
			(void)snprintf(dead, sizeof(dead), "%u", 999999900 + i);
			take(rows, dead, "x", "running");
		}
		process_rows_end(rows);
	}
	assert_int_equal(rows->renamed.count, 1);
	assert_false(process_rows_are_ours(rows));
	process_rows_look(rows, 120, 10);
	take(rows, pid, "test-evidence-p", "running");
	process_rows_end(rows);
	assert_true(process_rows_are_ours(rows));
	free(rows);
}

static void what_is_so_once_is_late(void **state)
{
	struct process_rows *rows = new_rows();

	process_rows_look(rows, 100, 10);
	take_page(rows, "test-evidence-p", NOBODY);
	process_rows_look(rows, 110, 10);
	take_page(rows, "not-my-name", "999999998");
	assert_int_equal(rows->dead.count + rows->renamed.count, 0);
	process_rows_look(rows, 120, 10);
	take(rows, NOBODY, "x", "running");
	process_rows_end(rows);
	assert_false(process_rows_are_ours(rows));
	free(rows);
}

/* A process that executes another program leaves a counter with its old name behind. */
static void a_kept_counter_has_the_old_name(void **state)
{
	struct process_rows *rows = new_rows();
	static const char *const names[] = { "never-grew", "grew-once-more", "goes-on" };
	static const double grown_s[] = { NAN, 101, 119 };

	for (unsigned look = 0; look < 3; look++) {
		process_rows_look(rows, 100 + 10 * look, 10);
		take_counter(rows, "test-evidence-p", 100);
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			take_counter(rows, names[i], grown_s[i] - (2 - look));
		process_rows_end(rows);
	}
	assert_true(process_rows_are_ours(rows));
	assert_int_equal(rows->renamed.count, 2);
	assert_non_null(strstr(rows->renamed.example, "not goes-on"));
	free(rows);
}

static void a_name_that_may_be_cut_or_escaped_is_not_compared(void **state)
{
	struct process_rows *rows = new_rows();

	for (int i = 0; i < 2; i++) {
		process_rows_look(rows, 100 + 10 * i, 10);
		take_page(rows, i ? "a name with blanks" : "", "0"); /* the idle task */
	}
	assert_int_equal(rows->renamed.count, 0);
	assert_true(process_rows_are_ours(rows));
	free(rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_so_twice_is_a_fault),
		cmocka_unit_test(a_process_of_the_same_number_is_not_ours),
		cmocka_unit_test(what_is_so_once_is_late),
		cmocka_unit_test(a_kept_counter_has_the_old_name),
		cmocka_unit_test(a_name_that_may_be_cut_or_escaped_is_not_compared),
	};
	return unit_run(tests);
}
