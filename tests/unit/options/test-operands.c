// SPDX-License-Identifier: Apache-2.0
#include "options/operands.h"

#include "config/config.h"
#include "options/render.h"
#include "tests/unit/unit.h"

static void words_may_stand_anywhere(void **state)
{
	static const char *const given[] = {
		"a", "--idle.share=usage", "b", "--idle.mode",        "off",
		"c", "--meter.enabled",    "d", "--no-meter.enabled", "e"
	};
	CLEANUP(operands_release) struct operands operands = { .count = 0 };
	char *argv[ARRAY_SIZE(given)];

	for (size_t i = 0; i < ARRAY_SIZE(given); i++)
		argv[i] = (char *)(uintptr_t)given[i];
	assert_int_equal(
		operands_sort(&config_options, NULL, ARRAY_SIZE(given), argv, &operands, NULL), 0);
	assert_int_equal(operands.count, 5);
	assert_string_equal(operands.words[0], "a");
	assert_string_equal(operands.words[4], "e");
	assert_int_equal(operands.flag_count, 5);
	assert_string_equal(operands.flags[2], "off");
	assert_true(operands_have_flag(&operands, "idle.share"));
	assert_true(operands_have_flag(&operands, "idle.mode"));
	assert_false(operands_have_flag(&operands, "idle.shar"));
	assert_false(operands_have_flag(&operands, "idle.watts"));
}

static void nothing_is_nothing(void **state)
{
	char flag[] = "--idle.mode";
	char *argv[] = { flag, NULL };
	CLEANUP(operands_release) struct operands none = { .count = 0 };
	CLEANUP(operands_release) struct operands one = { .count = 0 };

	assert_int_equal(operands_sort(&config_options, NULL, 0, argv, &none, NULL), 0);
	assert_int_equal(none.count + none.flag_count, 0);
	assert_int_equal(operands_sort(&config_options, NULL, 1, argv, &one, NULL), 0);
	assert_int_equal(one.flag_count, 1); /* without its value: an error of the options */
}

static void an_option_with_a_bare_value_takes_no_next_word(void **state)
{
	static char report[] = "--report", given[] = "--report=a.tar.gz", word[] = "b";
	char *bare_flag[] = { report }, *given_flag[] = { given };
	char *argv[] = { report, word };
	struct {
		struct config config;
		char *report;
	} own = { .report = NULL };
	const struct option row = { "report",
				    .type = OPTION_STRING,
				    .default_text = "",
				    .offset = (size_t)((char *)&own.report - (char *)&own),
				    .metavar = "FILE",
				    .only_flag = true,
				    .bare = "usual.tar.gz",
				    .may_be_empty = true,
				    .help = "Write a report." };
	const struct option_section section = { &row, 1, 0 };
	const struct option_set set = { .program = &config_program,
					.base = &config_options,
					.sections = &section,
					.section_count = 1,
					.size = sizeof(own) };
	struct option_args args = { .argc = 1, .argv = bare_flag, .default_file = "" };
	CLEANUP(operands_release) struct operands operands = { .count = 0 };
	CLEANUP(strbuf_release) struct strbuf flag = STRBUF_INIT;
	struct diag diag = { "" };

	assert_int_equal(operands_sort(&set, NULL, 2, argv, &operands, &diag), 0);
	assert_int_equal(operands.count, 1);
	assert_int_equal(options_load(&set, &args, &own.config.options, &diag), 0);
	assert_string_equal(own.report, "usual.tar.gz");
	options_release(&set, &own.config.options);
	args.argv = given_flag;
	assert_int_equal(options_load(&set, &args, &own.config.options, &diag), 0);
	assert_string_equal(own.report, "a.tar.gz");
	options_release(&set, &own.config.options);
	option_flag(&row, &flag);
	assert_string_equal(flag.data, "--report[=FILE]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_may_stand_anywhere),
		cmocka_unit_test(nothing_is_nothing),
		cmocka_unit_test(an_option_with_a_bare_value_takes_no_next_word),
	};

	return unit_run(tests);
}
