// SPDX-License-Identifier: Apache-2.0
/*
 * Build tool: prints what is made from the option table. `config-docs man TEMPLATE` fills the line
 * @OPTIONS@ of a template; `config-docs reference|sample|schema` print; `config-docs check WHAT
 * FILE` compares FILE with what would be printed, so that a committed copy cannot fall behind.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "config/config.h"
#include "options/render.h"
#include "options/schema.h"

#define TEMPLATE_MAX (1024 * 1024)
#define MARK         "@OPTIONS@\n"

static const struct document {
	const char *name;
	void (*render)(const struct option_set *set, struct strbuf *out);
} documents[] = {
	{ "reference", options_reference },
	{ "sample", options_sample },
	{ "schema", options_schema },
};

static int fail(const char *what, const char *why)
{
	(void)fprintf(stderr, "config-docs: %s: %s\n", what, why);
	return EXIT_FAILURE;
}

static int print(const struct strbuf *text)
{
	if (strbuf_error(text) < 0 || fwrite(text->data, 1, text->len, stdout) != text->len)
		return fail("stdout", "cannot write");
	return EXIT_SUCCESS;
}

static int render(const char *name, struct strbuf *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(documents); i++) {
		if (strcmp(documents[i].name, name) == 0) {
			documents[i].render(&config_options, out);
			return strbuf_error(out);
		}
	}
	return -1;
}

static int fill_template(const char *path)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	CLEANUP_FREE char *text = NULL;
	char *mark;

	if (read_file_alloc(path, TEMPLATE_MAX, &text, NULL) < 0)
		return fail(path, "cannot read");
	mark = strstr(text, MARK);
	if (!mark)
		return fail(path, "has no line @OPTIONS@");
	strbuf_add(&out, text, (size_t)(mark - text));
	options_man(&config_options, &out);
	strbuf_add_str(&out, mark + strlen(MARK));
	return print(&out);
}

static int check(const char *name, const char *path)
{
	CLEANUP(strbuf_release) struct strbuf want = STRBUF_INIT;
	CLEANUP_FREE char *have = NULL;
	size_t len;

	if (render(name, &want) < 0)
		return fail(name, "no such document");
	if (read_file_alloc(path, TEMPLATE_MAX, &have, &len) < 0)
		return fail(path, "cannot read");
	if (len != want.len || memcmp(have, want.data, len) != 0)
		return fail(path, "differs from the option table: ninja docs-update");
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

	if (argc == 3 && strcmp(argv[1], "man") == 0)
		return fill_template(argv[2]);
	if (argc == 4 && strcmp(argv[1], "check") == 0)
		return check(argv[2], argv[3]);
	if (argc == 2 && render(argv[1], &out) == 0)
		return print(&out);
	return fail("usage", "man TEMPLATE | reference | sample | schema | check WHAT FILE");
}
