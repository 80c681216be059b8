// SPDX-License-Identifier: Apache-2.0
/*
 * Subcommands that only read and print: nothing here opens a meter or needs a privilege. Each is a
 * row of one table.
 */
#include "kepler/config_command.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "config/config_import.h"
#include "options/render.h"
#include "options/schema.h"
#include "options/spelling.h"
#include "service/needs.h"

#define EXIT_USAGE 2

struct subcommand {
	const char *name;
	int (*run)(const struct option_args *args, FILE *out, FILE *err);
};

const char config_command_usage[] =
	"  config check FILE    check a configuration file, and list its errors\n"
	"  config show [FLAG…]  print the values in force and where each came from\n"
	"  config needs [FLAG…] print what they need, as a drop-in for systemd\n"
	"  config sample        print a configuration file with every default\n"
	"  config schema        print a JSON Schema of the configuration file\n"
	"  config import [--strict] FILE\n"
	"                       translate the configuration of another Kepler (classic\n"
	"                       KEY=VALUE or ConfigMap, current config.yaml); - is\n"
	"                       standard input\n";

static int put(const struct strbuf *text, FILE *out, FILE *err)
{
	if (strbuf_error(text) < 0) {
		(void)fprintf(err, "kepler: out of memory\n");
		return EXIT_FAILURE;
	}
	if (fwrite(text->data, 1, text->len, out) != text->len || fflush(out) != 0) {
		(void)fprintf(err, "kepler: standard output: %s\n", strerrordesc_np(errno));
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

static int usage(FILE *err)
{
	(void)fprintf(err, "usage:\n%s", config_command_usage);
	return EXIT_USAGE;
}

static int run_check(const struct option_args *args, FILE *out, FILE *err)
{
	CLEANUP(config_release) struct config config = { 0 };
	CLEANUP(strbuf_release) struct strbuf more = STRBUF_INIT;
	struct diag diag = { .more = &more };

	if (args->argc != 1)
		return usage(err);
	if (config_load_file(args->argv[0], &config, &diag) < 0) {
		diag_print(&diag, "kepler", err);
		return EXIT_USAGE;
	}
	(void)fprintf(out, "%s: ok\n", args->argv[0]);
	return EXIT_SUCCESS;
}

static int run_show(const struct option_args *args, FILE *out, FILE *err)
{
	CLEANUP(config_release) struct config config = { 0 };
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	if (options_load_or_print(&config_options, args, &config.options, err) < 0)
		return EXIT_USAGE;
	if (config.options.warnings[0])
		(void)fprintf(err, "%s\n", config.options.warnings);
	config_show(&config, &text);
	return put(&text, out, err);
}

static int run_needs(const struct option_args *args, FILE *out, FILE *err)
{
	CLEANUP(config_release) struct config config = { 0 };
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	const char *devices[CONFIG_DEVICES_MAX + 1];

	if (options_load_or_print(&config_options, args, &config.options, err) < 0)
		return EXIT_USAGE;
	config_devices(&config, devices);
	needs_write_unit(config_needs(&config), devices, config_network_address(&config), &text);
	return put(&text, out, err);
}

static int read_source(const char *path, char **ret_text, size_t *ret_len)
{
	CLEANUP_FREE char *text = NULL;
	size_t len;

	if (strcmp(path, "-") != 0)
		return read_file_alloc(path, OPTIONS_FILE_MAX, ret_text, ret_len);
	text = malloc(OPTIONS_FILE_MAX + 1);
	if (!text)
		return -ENOMEM;
	len = fread(text, 1, OPTIONS_FILE_MAX + 1, stdin);
	if (ferror(stdin))
		return -EIO;
	if (len > OPTIONS_FILE_MAX)
		return -EFBIG;
	text[len] = '\0';
	*ret_text = TAKE_PTR(text);
	*ret_len = len;
	return 0;
}

static void print_report(const struct strbuf *report, const struct import_counts *counts, FILE *err)
{
	for (char *rest = report->data, *line; rest && (line = strsep(&rest, "\n")) && *line;)
		(void)fprintf(err, "kepler: %s\n", line);
	(void)fprintf(err, "kepler: keys: %u translated, %u left out, %u not needed\n",
		      counts->translated, counts->left_out, counts->needless);
}

static int run_import(const struct option_args *args, FILE *out, FILE *err)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT, report = STRBUF_INIT;
	bool is_strict = args->argc == 2 && strcmp(args->argv[0], "--strict") == 0;
	CLEANUP_FREE char *source = NULL;
	const char *path = args->argc ? args->argv[args->argc - 1] : "";
	struct import_counts counts = { 0 };
	struct diag diag = { 0 };
	size_t len = 0;
	int r;

	if (args->argc != 1 + is_strict || !path[0])
		return usage(err);
	r = read_source(path, &source, &len);
	if (r < 0)
		(void)diag_set(&diag, r, "%s: cannot be read: %s", path, strerrordesc_np(-r));
	else
		r = config_import(strcmp(path, "-") == 0 ? "standard input" : path, source, len,
				  &text, &report, &counts, &diag);
	if (text.len) {
		print_report(&report, &counts, err);
		if (put(&text, out, err) != EXIT_SUCCESS)
			return EXIT_FAILURE;
	}
	if (r < 0) {
		diag_print(&diag, "kepler", err);
		return EXIT_USAGE;
	}
	return is_strict && counts.left_out ? EXIT_FAILURE : EXIT_SUCCESS;
}

static int print_table(const struct option_args *args,
		       void (*render)(const struct option_set *, struct strbuf *), FILE *out,
		       FILE *err)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;

	if (args->argc)
		return usage(err);
	render(&config_options, &text);
	return put(&text, out, err);
}

static int run_sample(const struct option_args *args, FILE *out, FILE *err)
{
	return print_table(args, options_sample, out, err);
}

static int run_schema(const struct option_args *args, FILE *out, FILE *err)
{
	return print_table(args, options_schema, out, err);
}

/* Reports that @word is not one of the @count subcommands. */
static int refuse(const struct subcommand *subcommands, size_t count, const char *word, FILE *err)
{
	struct spelling_nearest best = spelling_begin(word);
	char shown[128];

	for (size_t i = 0; i < count; i++)
		spelling_consider(&best, subcommands[i].name, SIZE_MAX);
	(void)fprintf(err, "kepler: config %s: no such command; ",
		      option_printable(shown, sizeof(shown), word));
	if (best.name)
		(void)fprintf(err, "did you mean config %s?\n", best.name);
	else
		(void)fprintf(err, "see config --help\n");
	return EXIT_USAGE;
}

int config_command(const struct option_args *args, FILE *out, FILE *err)
{
	static const struct subcommand subcommands[] = {
		{ "check", run_check },   { "show", run_show },     { "needs", run_needs },
		{ "sample", run_sample }, { "schema", run_schema }, { "import", run_import }
	};
	struct option_args rest = *args;

	if (args->argc < 1)
		return usage(err);
	rest.argc--;
	rest.argv++;
	for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++) {
		if (strcmp(args->argv[0], subcommands[i].name) == 0)
			return subcommands[i].run(&rest, out, err);
	}
	return refuse(subcommands, ARRAY_SIZE(subcommands), args->argv[0], err);
}

int config_command_main(int argc, char *const *argv, char *const *environ_)
{
	const struct option_args args = { .argc = argc, .argv = argv, .environ_ = environ_ };

	return config_command(&args, stdout, stderr);
}
