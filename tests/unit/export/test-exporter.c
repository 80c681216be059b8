// SPDX-License-Identifier: Apache-2.0
#include "export/exporter.h"

#include "tests/unit/unit.h"

static char calls[64];

static void note(char what)
{
	size_t len = strlen(calls);

	assert_true(len + 1 < sizeof(calls));
	calls[len] = what;
}

static int start_a(const struct exporter_program *program, void **ret, struct diag *diag)
{
	static int a;

	note('a');
	*ret = &a;
	return 0;
}

static int start_unwanted(const struct exporter_program *program, void **ret, struct diag *diag)
{
	note('u');
	return 0;
}

static int start_broken(const struct exporter_program *program, void **ret, struct diag *diag)
{
	note('b');
	return diag_set(diag, -EINVAL, "no");
}

static void turn(void *exporter, uint64_t now_ns)
{
	assert_non_null(exporter);
	note('t');
}

static void set_pages(void *exporter, const struct page_options *pages)
{
	assert_non_null(exporter);
	note('p');
}

static void stop(void *exporter)
{
	assert_non_null(exporter);
	note('s');
}

static const struct exporter_ops ops_a = {
	.start = start_a, .turn = turn, .set_pages = set_pages, .stop = stop
};
static const struct exporter_ops quiet = { .start = start_a, .stop = stop };
static const struct exporter_ops unwanted = { .start = start_unwanted, .turn = turn, .stop = stop };
static const struct exporter_ops broken = { .start = start_broken, .turn = turn, .stop = stop };

static void only_exporters_in_use_are_called(void **state)
{
	static const struct exporter_ops *const table[] = { &ops_a, &unwanted, &quiet, NULL };
	const struct exporter_program program = { .config = NULL };
	struct exporters exporters = { .count = 0 };
	struct diag diag = { "" };

	memset(calls, 0, sizeof(calls));
	assert_int_equal(exporters_start(&exporters, table, &program, &diag), 0);
	exporters_turn(&exporters, 1);
	exporters_reconfigure(&exporters, NULL, NULL);
	exporters_stop(&exporters);
	assert_string_equal(calls, "auatpss");
}

static void a_failure_ends_the_start(void **state)
{
	static const struct exporter_ops *const table[] = { &ops_a, &broken, &quiet, NULL };
	const struct exporter_program program = { .config = NULL };
	struct exporters exporters = { .count = 0 };
	struct diag diag = { "" };

	memset(calls, 0, sizeof(calls));
	assert_int_equal(exporters_start(&exporters, table, &program, &diag), -EINVAL);
	assert_string_equal(diag.text, "no");
	exporters_stop(&exporters);
	assert_string_equal(calls, "abs");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_exporters_in_use_are_called),
		cmocka_unit_test(a_failure_ends_the_start),
	};

	return unit_run(tests);
}
