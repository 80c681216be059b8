// SPDX-License-Identifier: Apache-2.0
#include "samples/exposition.h"

#include "base/strbuf.h"
#include "tests/unit/unit.h"

static int note_series(void *userdata, const struct series_labels *labels)
{
	struct strbuf *said = userdata;

	for (size_t i = 0; i < labels->count; i++)
		strbuf_addf(said, "%s=%s|", labels->name[i], labels->value[i]);
	return 0;
}

static int note_point(void *userdata, const struct series_point *point)
{
	struct strbuf *said = userdata;

	strbuf_addf(said, " %lld %s %g\n", (long long)point->time_us, point->text, point->value);
	return 0;
}

static void expect(const char *page, const char *expected)
{
	CLEANUP(strbuf_release) struct strbuf said = STRBUF_INIT;
	const struct series_sink sink = { note_series, note_point, &said };
	struct diag diag = { "" };

	assert_int_equal(exposition_read(page, strlen(page), 7, &sink, &diag), 0);
	assert_string_equal(said.data ? said.data : "", expected);
}

static void lines_are_series(void **state)
{
	expect("", "");
	expect("# HELP a b\n#\n\n \t\n", "");
	expect("up 1", "__name__=up| 7 1 1\n");
	expect("up\t 1.5e3 \nx{} -2\n", "__name__=up| 7 1.5e3 1500\n__name__=x| 7 -2 -2\n");
	expect("a{b=\"c\",d=\"\"} 3 1700000000000\n", "__name__=a|b=c|d=| 7 3 3\n");
	expect(" a { b = \"c\" , } 3\n", "__name__=a|b=c| 7 3 3\n");
	expect("a{b=\"\\\\\\\"\\n}\"} 3\n", "__name__=a|b=\\\"\n}| 7 3 3\n");
	expect("a +Inf\nb NaN\n", "__name__=a| 7 +Inf nan\n__name__=b| 7 NaN nan\n");
}

static void refuse(const char *page, size_t len, int err, const char *why)
{
	CLEANUP(strbuf_release) struct strbuf said = STRBUF_INIT;
	const struct series_sink sink = { note_series, note_point, &said };
	struct diag diag = { "" };

	assert_int_equal(exposition_read(page, len, 7, &sink, &diag), err);
	if (!strstr(diag.text, why))
		fail_msg("%s: %s", page, diag.text);
}

static void what_is_malformed_is_refused(void **state)
{
	static const struct {
		const char *page, *why;
	} cases[] = {
		{ "a 1\n{b=\"c\"} 3\n", "line 2: a line must begin" },
		{ "<html>\n", "line 1: a line must begin" },
		{ "a\n", "have a number" },
		{ "a-b 3\n", "an invalid character" },
		{ "a{b} 3\n", "NAME=\"VALUE\"" },
		{ "a{b=\"c\" 3\n", "separated by commas" },
		{ "a{b=c} 3\n", "begin with a quote" },
		{ "a{b=\"c} 3\n", "has no end" },
		{ "a{b=\"c\\x\"} 3\n", "a backslash" },
		{ "a{b=\"c\\", "a backslash" },
		{ "a{b=\"c\"}\n", "a number is missing" },
		{ "a x\n", "a number is missing" },
		{ "a 3 4x\n", "a number is missing" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		refuse(cases[i].page, strlen(cases[i].page), -EPROTO, cases[i].why);
	refuse("a\0b 1\n", 6, -EPROTO, "a null character");
}

static void labels_have_a_limit(void **state)
{
	CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT;

	strbuf_add_str(&page, "a{");
	for (size_t i = 0; i < SERIES_LABELS_MAX; i++)
		strbuf_addf(&page, "b%zu=\"c\",", i);
	strbuf_add_str(&page, "} 1\n");
	refuse(page.data, page.len, -E2BIG, "too many labels");
}

static int stop(void *userdata, const struct series_labels *labels)
{
	(void)userdata;
	(void)labels;
	return -ECANCELED;
}

static void the_sink_ends_it(void **state)
{
	const struct series_sink sink = { stop, note_point, NULL };
	struct diag diag = { "" };

	assert_int_equal(exposition_read("a 1\n", 4, 7, &sink, &diag), -ECANCELED);
	assert_string_equal(diag.text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_series),
		cmocka_unit_test(what_is_malformed_is_refused),
		cmocka_unit_test(labels_have_a_limit),
		cmocka_unit_test(the_sink_ends_it),
	};

	return unit_run(tests);
}
