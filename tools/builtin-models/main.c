// SPDX-License-Identifier: Apache-2.0
/*
 * Makes the models that are built into Kepler from measured data, which is not distributed. A
 * maintainer runs it when the data or the fit has changed; it is not installed.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "tools/builtin-models/components.h"
#include "tools/builtin-models/platform.h"

#define EXIT_USAGE 2

static const char usage[] =
	"Usage: builtin-models platform SPECPOWER.csv [OPTION...]\n"
	"       builtin-models components FOLDER [OPTION...]\n"
	"\n"
	"Fits a built-in model and prints its errors on machines that were held out.\n"
	"platform: from a table of SPECpower_ssj2008 results. components: from the\n"
	"folders ec2 and nx12 of RAPL readings.\n"
	"\n"
	"  --write=FILE   C source file for the fitted weights\n"
	"  --expect=FILE  platform: C header for the model's answers, for its test\n"
	"  --date=DATE    platform: the date that the source names; the clock is not read\n"
	"  --table        platform: also the errors without each part of the model\n"
	"  --refit        platform: also the errors of models that are fitted again\n"
	"                 without the machines that they are asked for\n";

/* The kinds of models; each makes a model of @path and prints it to @out. */
static const struct kind {
	const char *name;
	int (*train)(const struct builtin_config *config, const char *path, struct strbuf *out,
		     struct diag *diag);
} kinds[] = {
	{ "platform", builtin_platform_train },
	{ "components", builtin_components_train },
};

static bool read_options(int argc, char **argv, struct builtin_config *ret)
{
	static const struct option options[] = {
		{ "write", required_argument, NULL, 'w' },
		{ "expect", required_argument, NULL, 'e' },
		{ "date", required_argument, NULL, 'd' },
		{ "table", no_argument, NULL, 't' },
		{ "refit", no_argument, NULL, 'r' },
		{ 0 },
	};
	int option;

	*ret = (struct builtin_config){ .write = "", .expect = "", .date = "an unknown day" };
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'w')
			ret->write = optarg;
		else if (option == 'e')
			ret->expect = optarg;
		else if (option == 'd')
			ret->date = optarg;
		else if (option == 't')
			ret->table = true;
		else if (option == 'r')
			ret->refit = true;
		else
			return false;
	}
	return argc - optind == 2;
}

static int fail(const char *why)
{
	(void)fprintf(stderr, "builtin-models: %s\n", why);
	return EXIT_FAILURE;
}

static int train(const struct kind *kind, const struct builtin_config *config, const char *path)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	struct diag diag = { "" };

	if (kind->train(config, path, &out, &diag) < 0)
		return fail(diag.text);
	if (strbuf_error(&out) < 0)
		return fail("out of memory");
	if (fwrite(out.data, 1, out.len, stdout) != out.len || fflush(stdout) != 0)
		return fail("standard output cannot be written");
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct builtin_config config;

	if (!read_options(argc, argv, &config)) {
		(void)fputs(usage, stderr);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(kinds[i].name, argv[optind]) == 0)
			return train(&kinds[i], &config, argv[optind + 1]);
	}
	(void)fprintf(stderr, "builtin-models: there is no model \"%s\"\n", argv[optind]);
	return EXIT_USAGE;
}
