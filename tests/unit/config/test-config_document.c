// SPDX-License-Identifier: Apache-2.0
/*
 * All documents from the table name every option, and the sample and schema are valid.
 */
#include "config/config.h"
#include "options/render.h"
#include "options/schema.h"
#include "tests/unit/unit.h"

static void names_every_option(void **state)
{
	static void (*const renderers[])(const struct option_set *,
					 struct strbuf *) = { options_help, options_man,
							      options_reference };
	size_t count = option_count(&config_options);

	for (size_t r = 0; r < ARRAY_SIZE(renderers); r++) {
		struct strbuf text = STRBUF_INIT;

		renderers[r](&config_options, &text);
		assert_int_equal(strbuf_error(&text), 0);
		for (size_t i = 0; i < count; i++)
			assert_non_null(strstr(text.data, option_at(&config_options, i)->name));
		strbuf_release(&text);
	}
}

/* scdoc would take "_" and "*" for emphasis. */
static void the_manual_shows_text_as_it_is(void **state)
{
	struct strbuf text = STRBUF_INIT;

	options_man(&config_options, &text);
	assert_non_null(strstr(text.data, "$NODE\\_NAME"));
	strbuf_release(&text);
}

static void help_fits_a_terminal(void **state)
{
	struct strbuf text = STRBUF_INIT;

	options_help(&config_options, &text);
	for (const char *line = text.data; *line; line += strcspn(line, "\n") + 1)
		assert_true(strcspn(line, "\n") <=
			    82); /* 80 columns; "µ" and "…" are two bytes more */
	strbuf_release(&text);
}

/* Taking "#" away from every line that has one gives a file of all defaults. */
static void sample_uncommented_is_the_default(void **state)
{
	struct strbuf sample = STRBUF_INIT, plain = STRBUF_INIT;
	size_t count = option_count(&config_options);
	struct config from_sample, defaults;
	struct diag diag = { 0 };

	options_sample(&config_options, &sample);
	assert_int_equal(config_load_text("s", sample.data, sample.len, &from_sample, &diag), 0);
	config_release(&from_sample);
	for (const char *line = sample.data; *line; line += strcspn(line, "\n") + 1) {
		if (line[0] == '#' && line[1] != '#')
			strbuf_add(&plain, line + 1, strcspn(line, "\n"));
	}
	if (config_load_text("s", plain.data, plain.len, &from_sample, &diag) < 0)
		fail_msg("%s\n%s", diag.text, plain.data);
	assert_int_equal(config_load_text("d", "", 0, &defaults, &diag), 0);
	for (size_t i = 0; i < count; i++) {
		assert_true(option_is_same(&config_options, i, &from_sample.options,
					   &defaults.options));
		assert_int_equal(from_sample.options.origins[i],
				 option_at(&config_options, i)->not_in_file ? ORIGIN_DEFAULT
									    : ORIGIN_FILE);
	}
	config_release(&from_sample);
	config_release(&defaults);
	strbuf_release(&sample);
	strbuf_release(&plain);
}

static void schema_is_balanced(void **state)
{
	struct strbuf text = STRBUF_INIT;
	long depth = 0;

	options_schema(&config_options, &text);
	for (const char *c = text.data; *c; c++)
		depth += *c == '{' ? 1 : *c == '}' ? -1 : 0;
	assert_int_equal(depth, 0);
	assert_non_null(strstr(text.data, "\"min-joules\":{\"type\":\"number\""));
	assert_null(strstr(text.data, "\"config\""));
	strbuf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_every_option),
		cmocka_unit_test(the_manual_shows_text_as_it_is),
		cmocka_unit_test(help_fits_a_terminal),
		cmocka_unit_test(sample_uncommented_is_the_default),
		cmocka_unit_test(schema_is_balanced),
	};

	return unit_run(tests);
}
