// SPDX-License-Identifier: Apache-2.0
#include "modelling/settings.h"

#include "options/layers.h"
#include "options/program.h"
#include "tests/unit/unit.h"

struct values {
	struct settings settings;
	char *input;
	bool flag;
};

static const struct option rows[] = {
	{ "input", NULL, OPTION_STRING, .offset = offsetof(struct values, input),
	  .default_text = "none", .metavar = "FILE", .only_flag = true, .help = "A file." },
	{ "flag", NULL, OPTION_BOOL, .offset = offsetof(struct values, flag),
	  .default_text = "false", .only_flag = true, .help = "A switch." },
};
static const struct option_section sections[] = { { rows, ARRAY_SIZE(rows), 0 } };
static const struct option_set set = { .program = &settings_program,
				       .base = &settings_options,
				       .sections = sections,
				       .section_count = ARRAY_SIZE(sections),
				       .size = sizeof(struct values) };
static const struct short_flag shorts[] = { { "-i", "input" }, { NULL, NULL } };

/* Loads words; the result, and what it was in @ret. */
static int load(const char *a, const char *b, const char *c, struct values *ret,
		struct operands *operands)
{
	char words[3][32];
	char *argv[3];
	const char *const given[] = { a, b, c };
	int argc = 0;

	for (; argc < 3 && given[argc]; argc++) {
		(void)snprintf(words[argc], sizeof(words[argc]), "%s", given[argc]);
		argv[argc] = words[argc];
	}
	*ret = (struct values){ .flag = false };
	return settings_read(&set, shorts, argc, argv, NULL, &ret->settings, operands);
}

static void expect(const char *a, const char *b, const char *c, const char *input, bool flag,
		   size_t words)
{
	struct operands operands;
	struct values values;

	assert_int_equal(load(a, b, c, &values, &operands), 0);
	assert_string_equal(values.input, input);
	assert_int_equal(values.flag, flag);
	assert_int_equal(operands.count, words);
	operands_release(&operands);
	options_release(&set, &values.settings.options);
}

/* @why is everything that is printed. */
static void refuse(const char *a, const char *b, const char *c, const char *why)
{
	CLEANUP_FREE char *printed = NULL;
	FILE *usual = stderr;
	struct operands operands;
	struct values values;
	size_t len = 0;
	int status;

	stderr = open_memstream(&printed, &len);
	assert_non_null(stderr);
	status = load(a, b, c, &values, &operands);
	(void)fclose(stderr);
	stderr = usual;
	assert_int_equal(status, PROGRAM_USAGE);
	assert_string_equal(printed, why);
}

static void test_words(void **state)
{
	expect(NULL, NULL, NULL, "none", false, 0);
	expect("-i", "x", "y", "x", false, 1);
	expect("--input", "x", "--flag", "x", true, 0);
	expect("--flag", "y", "--input=x", "x", true, 1);
	expect("-", "y", NULL, "none", false, 2);
}

static void test_everything_wrong_is_printed(void **state)
{
	refuse("-i", NULL, NULL, "kepler-model: --input: needs a value: --input=FILE\n");
	refuse("-x", "--imput=x", "--log.level=loud",
	       "kepler-model: -x: unknown flag; see --help\n"
	       "kepler-model: --imput: unknown flag; did you mean --input?\n"
	       "kepler-model: --log.level: must be debug, info, warn or error, not \"loud\"\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_everything_wrong_is_printed),
	};

	return unit_run(tests);
}
