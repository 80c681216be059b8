// SPDX-License-Identifier: Apache-2.0
/*
 * Recorded options are put before the command line, as flags, so that they take precedence over the
 * environment and the configuration file of this machine, which is another one. All files are read
 * once for that, and once to be booked.
 */
#include "replay/replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/macro.h"
#include "base/strbuf.h"
#include "config/config.h"
#include "config/replay_options.h"
#include "options/operands.h"
#include "options/program.h"
#include "record/record_reader.h"
#include "replay/replay_books.h"
#include "replay/replay_table.h"

#define EXIT_DAMAGED 1
#define EXIT_USAGE   2
#define FLAGS_MAX    256

struct replay_config {
	struct config config;
	int by, format;
	uint32_t top;
	bool diff;
};

static const struct option_choice formats[] = {
	{ "table", REPLAY_TABLE }, { "json", REPLAY_JSON }, { "csv", REPLAY_CSV }, { 0 }
};

#define OWN(member) .offset = offsetof(struct replay_config, member)

static const struct option own_rows[] = {
	{ "by", NULL, OPTION_ENUM, OWN(by), .choices = level_choices, .default_text = "container",
	  .metavar = "WHAT", .only_flag = true,
	  .help = "What each line shows: a process, container, pod, vm or namespace." },
	{ "format", NULL, OPTION_ENUM, OWN(format), .choices = formats, .default_text = "table",
	  .metavar = "FORMAT", .only_flag = true,
	  .help = "Output format: a table in joules, or JSON or CSV in whole microjoules." },
	{ "top", NULL, OPTION_U32, OWN(top), .max = 10000000, .default_text = "0", .metavar = "N",
	  .only_flag = true, .help = "Number of lines in the table; the rest is summed. 0: all." },
	{ "diff", NULL, OPTION_BOOL, OWN(diff), .default_text = "false", .only_flag = true,
	  .help = "Show the result with the options of the recording, the result with the given "
		  "options, and the difference." },
};
static const struct option_section own_sections[] = { { own_rows, ARRAY_SIZE(own_rows), 0 } };

const struct option_set replay_options = {
	.program = &config_program,
	.base = &config_options,
	.sections = own_sections,
	.section_count = ARRAY_SIZE(own_sections),
	.size = sizeof(struct replay_config),
	.check = config_check,
};

/* Flags for the recorded options; owned. */
struct recorded_flags {
	char *flags[FLAGS_MAX];
	size_t count;
};

static void recorded_flags_release(struct recorded_flags *flags)
{
	for (size_t i = 0; i < flags->count; i++)
		free(flags->flags[i]);
	flags->count = 0;
}

/* The flags of the first file: all are of one run. 0; its errors are reported in booking. */
static int read_flags(const char *path, struct recorded_flags *ret, struct diag *diag)
{
	struct record_reader *reader = NULL;
	CLEANUP_FREE struct record *record = calloc(1, sizeof(*record));
	struct diag unused = { "" };
	int r = record ? record_reader_open(path, &reader, diag) : -ENOMEM;

	while (r == 0 && ret->count < FLAGS_MAX &&
	       record_reader_next(reader, record, &unused) > 0 && record->type != RECORD_INTERVAL) {
		const struct recorded_pair *pair = &record->pair;

		if (record->type != RECORD_OPTION || !replay_options_has(pair->name) ||
		    option_find(&config_options, pair->name) == OPTION_NONE)
			continue;
		if (asprintf(&ret->flags[ret->count], "--%s=%s", pair->name, pair->value) < 0)
			r = -ENOMEM;
		else
			ret->count++;
	}
	record_reader_close(reader);
	return r;
}

/* The recorded options that no flag of @operands overrides, then those flags. */
static int load(const struct recorded_flags *recorded, const struct operands *operands,
		bool only_recorded, char *const *environ_, struct replay_config *ret,
		struct diag *diag)
{
	struct option_args args = { .environ_ = environ_, .default_file = "" };
	CLEANUP_FREE char **argv =
		calloc(recorded->count + operands->flag_count + 1, sizeof(*argv));
	size_t count = 0;

	if (!argv)
		return diag_set(diag, -ENOMEM, "out of memory");
	for (size_t i = 0; i < recorded->count; i++) {
		char name[OPTION_NAME_MAX];

		(void)snprintf(name, sizeof(name), "%.*s",
			       (int)strcspn(recorded->flags[i] + 2, "="), recorded->flags[i] + 2);
		if (only_recorded || !operands_have_flag(operands, name))
			argv[count++] = recorded->flags[i];
	}
	for (size_t i = 0; !only_recorded && i < operands->flag_count; i++)
		argv[count++] = operands->flags[i];
	args.argc = (int)count;
	args.argv = argv;
	return options_load(&replay_options, &args, &ret->config.options, diag);
}

/*
 * Reads the options of the first file into @recorded, and the options in force into @own. Wrong
 * flags and files that cannot be read are reported together.
 */
static int load_given(const struct operands *operands, char *const *environ_,
		      struct recorded_flags *recorded, struct replay_config *own, struct diag *diag)
{
	struct diag why = { "" };
	int first = read_flags(operands->words[0], recorded, &why);
	int r = load(recorded, operands, false, environ_, own, diag);

	if (first < 0)
		r = diag_add(diag, first, "%s", why.text[0] ? why.text : "out of memory");
	for (size_t i = 1; i < operands->count; i++) {
		if (access(operands->words[i], R_OK) < 0)
			r = diag_add(diag, -errno, "%s: cannot be read: %s", operands->words[i],
				     strerrordesc_np(errno));
	}
	return r;
}

/* One set of books, and what the files report. */
struct replay {
	const struct recorded_flags *flags; /* of the first file */
	bool told_options;
	struct replay_books *books;
	uint64_t intervals, lost, length_ns;
};

static void replay_release(struct replay *replay)
{
	replay_books_free(replay->books);
}

/* A file of the ring that a reload has begun. */
static void look_at_option(struct replay *replay, const char *path,
			   const struct recorded_pair *pair)
{
	if (replay->told_options || !replay_options_has(pair->name))
		return;
	for (size_t i = 0; i < replay->flags->count; i++) {
		const char *flag = replay->flags->flags[i] + 2;
		size_t len = strlen(pair->name);

		if (strncmp(flag, pair->name, len) == 0 && flag[len] == '=' &&
		    strcmp(flag + len + 1, pair->value) == 0)
			return;
	}
	replay->told_options = true;
	(void)fprintf(stderr,
		      "kepler: %s: recorded with a different %s than the first file, whose options "
		      "are used; replay it separately to use its own\n",
		      path, pair->name);
}

static int take(struct replay *replay, const struct record *record, struct diag *diag)
{
	int r = replay_books_take(replay->books, record, diag);

	if (r > 0) {
		replay->intervals++;
		replay->length_ns += record->interval.length_ns;
	}
	if (record->type == RECORD_END)
		replay->lost += record->end.lost;
	if (r == -ENOMEM)
		(void)diag_set(diag, r, "out of memory");
	return r < 0 ? r : 0;
}

/* 0; -EBADMSG with a diagnosis: what is before the damage was booked; or -errno. */
static int book_file(struct replay *replay, const char *path, struct diag *diag)
{
	CLEANUP_FREE struct record *record = calloc(1, sizeof(*record));
	struct record_reader *reader = NULL;
	struct diag why = { "" };
	int r = record ? record_reader_open(path, &reader, diag) : -ENOMEM;
	int got = 0;

	while (r == 0 && (got = record_reader_next(reader, record, diag)) > 0) {
		if (record->type == RECORD_OPTION)
			look_at_option(replay, path, &record->pair);
		r = take(replay, record, &why);
		if (r < 0)
			(void)diag_set(diag, r, "%.200s: after interval %llu: %.200s", path,
				       (unsigned long long)replay->intervals, why.text);
	}
	if (r == 0 && got == 0 && record_reader_is_cut(reader))
		(void)fprintf(stderr,
			      "kepler: %s: the end is missing, as after a crash or during "
			      "recording; everything before it is counted\n",
			      path);
	record_reader_close(reader);
	return r < 0 ? r : got;
}

static int book_all(struct replay *replay, const struct config *config,
		    const struct operands *files, struct diag *diag)
{
	int r = replay_books_new(config, &replay->books);

	for (size_t i = 0; r == 0 && i < files->count; i++) {
		if (i)
			replay_books_next_file(replay->books);
		r = book_file(replay, files->words[i], diag);
	}
	return r;
}

static int print(const struct replay_config *own, const struct replay *replay,
		 const struct replay_books *other)
{
	const struct replay_view view = {
		.books = replay->books,
		.other = other,
		.level = (enum level)own->by,
		.top = own->top,
		.intervals = replay->intervals,
		.lost = replay->lost,
		.length_ns = replay->length_ns,
	};
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

	if (replay_table_print(&view, (enum replay_format)own->format, &out) < 0 ||
	    fwrite(out.data, 1, out.len, stdout) != out.len || fflush(stdout) != 0) {
		(void)fprintf(stderr, "kepler: standard output: %s\n",
			      strbuf_error(&out) < 0 ? "out of memory" : strerrordesc_np(errno));
		return EXIT_DAMAGED;
	}
	if (replay_table_imbalance_uj(replay->books) ||
	    (other && replay_table_imbalance_uj(other))) {
		(void)fputs("kepler: the sums are inconsistent; please report this\n", stderr);
		return EXIT_DAMAGED;
	}
	return 0;
}

static int replay(const struct replay_config *own, const struct replay_config *recorded,
		  const struct recorded_flags *flags, const struct operands *files)
{
	CLEANUP(replay_release) struct replay first = { .flags = flags };
	CLEANUP(replay_release) struct replay second = { .flags = flags, .told_options = true };
	struct diag diag = { "" };
	const struct config *config = own->diff ? &recorded->config : &own->config;
	int r = book_all(&first, config, files, &diag);
	int status;

	if (own->diff && (r == 0 || first.intervals))
		r = book_all(&second, &own->config, files, &diag);
	if (r < 0)
		(void)fprintf(stderr, "kepler: %s\n", diag.text[0] ? diag.text : "out of memory");
	if (r < 0 && !first.intervals)
		return EXIT_USAGE;
	status = print(own, &first, second.books);
	return r < 0 ? EXIT_DAMAGED : status;
}

static int run(const struct operands *operands, char *const *environ_)
{
	CLEANUP(recorded_flags_release) struct recorded_flags flags = { .count = 0 };
	struct replay_config own = { .by = 0 }, recorded = { .by = 0 };
	CLEANUP(strbuf_release) struct strbuf more = STRBUF_INIT;
	struct diag diag = { .more = &more };
	int status = EXIT_USAGE;
	int r = load_given(operands, environ_, &flags, &own, &diag);

	if (r == 0)
		r = load(&flags, operands, true, NULL, &recorded, &diag);
	if (r < 0)
		diag_print(&diag, "kepler", stderr);
	else
		status = replay(&own, &recorded, &flags, operands);
	options_release(&replay_options, &own.config.options);
	options_release(&replay_options, &recorded.config.options);
	return status;
}

int replay_main(int argc, char *const *argv, char *const *environ_)
{
	CLEANUP(operands_release) struct operands operands = { .count = 0 };

	if (operands_sort(&replay_options, NULL, argc, argv, &operands, NULL) < 0 ||
	    !operands.count) {
		return PROGRAM_WRONG_WORDS;
	}
	return run(&operands, environ_);
}
