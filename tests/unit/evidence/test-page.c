// SPDX-License-Identifier: Apache-2.0
#include "evidence/pages/page.h"

#include <math.h>

#include "tests/unit/unit.h"

struct seen {
	size_t count, types;
	double sum, start_s;
	char name[64], zone[64], type[64];
};

static int take_series(void *userdata, const struct page_series *series)
{
	struct seen *seen = userdata;

	seen->count++;
	seen->sum += series->value;
	seen->start_s = series->start_s;
	(void)snprintf(seen->name, sizeof(seen->name), "%s", series->name);
	(void)snprintf(seen->zone, sizeof(seen->zone), "%s", page_label(series, "zone"));
	return 0;
}

static int take_type(void *userdata, const char *metric, const char *type)
{
	struct seen *seen = userdata;

	seen->types++;
	(void)snprintf(seen->type, sizeof(seen->type), "%s %s", metric, type);
	return 0;
}

static int read_text(const char *page, struct seen *seen, struct diag *diag)
{
	const struct page_sink sink = { seen, take_type, take_series };
	char text[512];

	*seen = (struct seen){ 0 };
	(void)snprintf(text, sizeof(text), "%s", page);
	return page_read(text, strlen(text), &sink, diag);
}

static void lines_are_series(void **state)
{
	struct seen seen;
	struct diag diag = { "" };

	assert_int_equal(read_text("# HELP a_total Text.\n# TYPE a_total counter\n"
				   "a_total 1\n\na_total{} 2 1795886693000\r\n"
				   "b {zone=\"x\\\"\\n\\\\}\" , pid=\"1\",} 4e0 # {}\n",
				   &seen, &diag),
			 0);
	assert_int_equal(seen.count, 3);
	assert_true(fabs(seen.sum - 7) < 1e-9);
	assert_string_equal(seen.name, "b");
	assert_string_equal(seen.zone, "x\"\n\\}");
	assert_int_equal(seen.types, 1);
	assert_string_equal(seen.type, "a_total counter");
}

/* A histogram is one value in braces, with or without labels before it. */
static void openmetrics_2_has_start_times(void **state)
{
	struct seen seen;
	struct diag diag = { "" };

	assert_int_equal(
		read_text("a_total{x=\"1\"} 5 1795927334 st@1795927333.976 # {} 1\n", &seen, &diag),
		0);
	assert_true(fabs(seen.sum - 5) < 1e-9 && fabs(seen.start_s - 1795927333.976) < 1e-6);
	assert_int_equal(read_text("a_total 5 # {x=\"1\"} st@3\n", &seen, &diag), 0);
	assert_true(isnan(seen.start_s));
	for (int labels = 0; labels < 2; labels++) {
		assert_int_equal(read_text(labels ? "h{x=\"1\"} {count:2,bucket:[1:2]} st@3\n"
						  : "h {count:2,bucket:[1:2]} st@3\n",
					   &seen, &diag),
				 0);
		assert_true(isnan(seen.sum) && fabs(seen.start_s - 3) < 1e-9);
	}
}

static void faults_have_a_line(void **state)
{
	static const char *const pages[] = {
		"a 1\na\n",    "a 1\na{x=1} 1\n", "a 1\na{x=\"1} 1\n",
		"a 1\na 1x\n", "a 1\n{} 1\n",     "a 1\na{x=\"1\"\n",
	};
	struct seen seen;

	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		struct diag diag = { "" };

		assert_int_equal(read_text(pages[i], &seen, &diag), -EPROTO);
		assert_int_equal(seen.count, 1);
		assert_true(strncmp(diag.text, "line 2: ", 8) == 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_series),
		cmocka_unit_test(openmetrics_2_has_start_times),
		cmocka_unit_test(faults_have_a_line),
	};
	return unit_run(tests);
}
