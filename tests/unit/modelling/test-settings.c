// SPDX-License-Identifier: Apache-2.0
#include "modelling/settings.h"

#include "options/layers.h"
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
		struct operands *operands, struct diag *diag)
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
	return settings_read(&set, shorts, argc, argv, NULL, &ret->settings, operands, diag);
}

static void expect(const char *a, const char *b, const char *c, const char *input, bool flag,
		   size_t words)
{
	struct operands operands;
	struct diag diag = { "" };
	struct values values;

	assert_int_equal(load(a, b, c, &values, &operands, &diag), 0);
	assert_string_equal(values.input, input);
	assert_int_equal(values.flag, flag);
	assert_int_equal(operands.count, words);
	operands_release(&operands);
	options_release(&set, &values.settings.options);
}

static void refuse(const char *a, const char *why)
{
	struct operands operands;
	struct diag diag = { "" };
	struct values values;

	assert_int_equal(load(a, NULL, NULL, &values, &operands, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, why));
}

static void test_words(void **state)
{
	expect(NULL, NULL, NULL, "none", false, 0);
	expect("-i", "x", "y", "x", false, 1);
	expect("--input", "x", "--flag", "x", true, 0);
	expect("--flag", "y", "--input=x", "x", true, 1);
	expect("-", "y", NULL, "none", false, 2);
	refuse("-x", "unknown flag");
	refuse("--imput=x", "input");
	refuse("-i", "input");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_words) };

	return unit_run(tests);
}
