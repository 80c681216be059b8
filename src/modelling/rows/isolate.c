// SPDX-License-Identifier: Apache-2.0
#include "modelling/rows/isolate.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "model/trained_model.h"
#include "modelling/data_path.h"
#include "modelling/model_command.h"
#include "modelling/rows/background.h"
#include "modelling/rows/background_model.h"
#include "modelling/rows/extract_options.h"
#include "modelling/sample_file.h"
#include "options/layers.h"
#include "options/program.h"
#include "samples/isolation.h"
#include "samples/recorded_series.h"
#include "samples/sample_input.h"

enum isolator {
	ISOLATOR_NONE,
	ISOLATOR_MIN,
	ISOLATOR_IDLE,
	ISOLATOR_PROFILE,
	ISOLATOR_TRAINER,
};

struct isolate_config {
	struct settings settings;
	struct extract_values extract;
	int isolator;
	char *profile, *model;
	char *target_hints[HINTS_MAX], *bg_hints[HINTS_MAX];
	size_t target_hint_count, bg_hint_count;
};

#define OWN(member) .offset = offsetof(struct isolate_config, member)

static const struct option_choice isolators[] = {
	{ "none", ISOLATOR_NONE },       { "min", ISOLATOR_MIN },         { "idle", ISOLATOR_IDLE },
	{ "profile", ISOLATOR_PROFILE }, { "trainer", ISOLATOR_TRAINER }, { 0 }
};

static const struct option rows[] = {
	{ "isolator", NULL, OPTION_ENUM, OWN(isolator), .choices = isolators, .default_text = "min",
	  .metavar = "NAME", .only_flag = true,
	  .help = "Power to subtract. none: nothing. min: the lowest measured power. idle: the "
		  "power of rows without activity, or of a fitted line at zero load. profile: the "
		  "mean power of an idle period (--profile), whose containers are left out. "
		  "trainer: a model's (--abs-model) estimate for those containers." },
	TEXT_FLAG("profile", OWN(profile), "", "FILE",
		  "Series of a period in which the machine was idle."),
	TEXT_FLAG("abs-model", OWN(model), "", "MODEL",
		  "A model of this machine's total power (AbsPower), or a pipeline (a folder or a "
		  "zip archive) from which one is chosen."),
	{ "bg-hints", NULL, OPTION_STRINGS, OWN(bg_hints),
	  .count_offset = offsetof(struct isolate_config, bg_hint_count), .list_max = HINTS_MAX,
	  .default_text = "", .metavar = "TEXT", .only_flag = true,
	  .help = "Part of the name of background containers." },
	{ "target-hints", NULL, OPTION_STRINGS, OWN(target_hints),
	  .count_offset = offsetof(struct isolate_config, target_hint_count), .list_max = HINTS_MAX,
	  .default_text = "", .metavar = "TEXT", .only_flag = true,
	  .help = "Part of the name of containers that are not background; without --profile, all "
		  "others are background." },
};

static const struct option_section sections[] = {
	{ extract_rows_of_options, EXTRACT_OPTION_COUNT, offsetof(struct isolate_config, extract) },
	{ rows, ARRAY_SIZE(rows), 0 },
};

static int check(const struct option_values *values, struct diag *diag)
{
	const struct isolate_config *config = (const struct isolate_config *)(const void *)values;
	bool has_background =
		*config->profile || config->bg_hint_count || config->target_hint_count;
	int r = 0;

	if (config->isolator == ISOLATOR_PROFILE && !*config->profile)
		r = diag_add(diag, -EINVAL, "--isolator=profile needs --profile=FILE");
	if (config->isolator == ISOLATOR_TRAINER && !*config->model)
		r = diag_add(diag, -EINVAL, "--isolator=trainer needs --abs-model=MODEL");
	if (config->isolator == ISOLATOR_TRAINER && !has_background)
		r = diag_add(diag, -EINVAL,
			     "--isolator=trainer needs --profile, --bg-hints or --target-hints, "
			     "to find the background");
	if (config->extract.output_type == OUTPUT_DYN_POWER)
		r = diag_add(diag, -EINVAL,
			     "--output-type=DynPower: isolated rows are steps of the node; use "
			     "AbsPower");
	return r;
}

const struct option_set isolate_command_options = {
	.program = &settings_program,
	.base = &settings_options,
	.sections = sections,
	.section_count = ARRAY_SIZE(sections),
	.size = sizeof(struct isolate_config),
	.check = check,
};

static const struct short_flag shorts[] = {
	{ "-i", "input" }, { "-o", "output" }, { "-e", "energy-source" }, { NULL, NULL }
};

static void tell(const char *column, double watts, const char *what)
{
	(void)fprintf(stderr, "kepler-model isolate: %s: subtracted %.3f W, %s\n", column, watts,
		      what);
}

/* ---- by the rows alone ---- */

/* Finds the power to subtract from each column. */
static int find_power(const struct sample_table *table, enum isolator isolator,
		      struct isolated_power ret[static ISOLATION_COLUMNS_MAX], size_t *ret_count,
		      struct diag *diag)
{
	static const char *const ways[] = {
		[ISOLATION_MINIMUM] = "the lowest of all rows",
		[ISOLATION_IDLE_ROWS_FOUND] = "the mean of rows in which nothing ran",
		[ISOLATION_INTERCEPT] =
			"the power of a fitted line at no load, because no row was idle",
	};
	const char *load = isolator == ISOLATOR_IDLE ? isolation_load(table) : NULL;

	*ret_count = 0;
	if (isolator == ISOLATOR_NONE)
		return 0;
	if (isolator == ISOLATOR_IDLE && !load)
		return diag_set(
			diag, -EINVAL,
			"isolator: idle needs CPU time, cycles or instructions in the rows");
	*ret_count = isolation_find(table, load, ret);
	for (size_t i = 0; i < *ret_count; i++)
		tell(table->names[ret[i].column], ret[i].idle_w, ways[ret[i].way]);
	return 0;
}

static int isolate_rows(struct sample_table *table, enum isolator isolator, struct diag *diag)
{
	struct isolated_power powers[ISOLATION_COLUMNS_MAX];
	size_t count;
	int r = find_power(table, isolator, powers, &count, diag);

	for (size_t i = 0; r == 0 && i < count; i++)
		isolation_subtract(table, powers[i].column, powers[i].idle_w);
	return r;
}

/* ---- by the background ---- */

static void isolate_by_profile(struct sample_table *table, const struct background *background)
{
	struct isolated_power powers[ISOLATION_COLUMNS_MAX];
	size_t count = isolation_find(table, NULL, powers);

	for (size_t i = 0; i < count; i++) {
		const char *name = table->names[powers[i].column];
		double watts = background_watts(background, name);

		if (isnan(watts))
			watts = powers[i].idle_w;
		tell(name, watts,
		     sample_table_find(&background->idle.table, name) == SAMPLE_COLUMN_NONE
			     ? "the lowest of all rows: the idle time has no such power"
			     : "the mean of the idle time");
		isolation_subtract(table, powers[i].column, watts);
	}
}

static int isolate_by_model(struct sample_table *table, const char *path, struct diag *diag)
{
	static const struct model_input_filter filter = { .output = MODEL_ABS_POWER };
	struct background_model found;
	int r = background_model_isolate(path, &filter, table, &found, diag);

	for (size_t i = 0; r == 0 && i < found.count; i++)
		tell(table->names[found.powers[i].column], found.powers[i].mean_w,
		     "the mean of the model's estimate for the background");
	if (r == 0 && strcmp(found.name, path) != 0)
		(void)fprintf(stderr,
			      "kepler-model isolate: used model %s; the correlation of the "
			      "remaining power with the target is %.2f\n",
			      found.name, found.correlation);
	return r;
}

/* Copies the rows without the columns of the background. */
static int drop_background(const struct sample_table *table, struct sample_table *ret)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < table->rows; i++)
		r = sample_table_add_row(ret);
	for (size_t i = 0; r == 0 && i < table->column_count; i++) {
		size_t column;

		if (strncmp(table->names[i], BACKGROUND_PREFIX, strlen(BACKGROUND_PREFIX)) == 0)
			continue;
		r = sample_table_add_column(ret, table->names[i], &column);
		if (r == 0 && table->rows)
			memcpy(ret->columns[column], table->columns[i],
			       table->rows * sizeof(double));
	}
	return r;
}

static int write_rows(const struct isolate_config *config, const struct sample_table *table,
		      struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	char output[DATA_PATH_SIZE];

	(void)sample_table_write_csv(table, &text);
	return output_write(data_path_of(config->extract.data_path, config->extract.output, output),
			    &text, diag);
}

static int isolate_extraction(const struct isolate_config *config,
			      const struct background *background, struct extraction *extraction,
			      struct diag *diag)
{
	CLEANUP(sample_table_release) struct sample_table target = { .rows = 0 };
	enum isolator isolator = (enum isolator)config->isolator;
	int r = 0;

	if (isolator == ISOLATOR_PROFILE)
		isolate_by_profile(&extraction->table, background);
	else if (isolator != ISOLATOR_TRAINER)
		r = isolate_rows(&extraction->table, isolator, diag);
	else
		r = isolate_by_model(&extraction->table, config->model, diag);
	if (r == 0) {
		r = drop_background(&extraction->table, &target);
		if (r < 0)
			(void)diag_set(diag, r, "out of memory");
	}
	return r < 0 ? r : write_rows(config, &target, diag);
}

static const char *const *borrow(char *const *texts)
{
	return (const char *const *)texts;
}

static int isolate_series(struct isolate_config *config, const char *path, struct diag *diag)
{
	CLEANUP(background_release)
	struct background background = {
		.hints = borrow(config->bg_hints),
		.hint_count = config->bg_hint_count,
		.target_hints = borrow(config->target_hints),
		.target_hint_count = config->target_hint_count,
	};
	CLEANUP(extraction_release) struct extraction extraction = { .step_us = 0 };
	struct extract_options options;
	char profile[DATA_PATH_SIZE];
	int r = 0;

	extract_options_make(&config->extract, &options);
	if (*config->profile)
		r = background_read(
			&background, &options,
			data_path_of(config->extract.data_path, config->profile, profile), diag);
	if (r < 0)
		return r;
	if (*config->profile || config->bg_hint_count || config->target_hint_count) {
		options.is_background = background_has;
		options.userdata = &background;
	}
	r = extract_any(&options, path, &extraction, diag);
	if (r < 0)
		return r;
	extract_print_summary("isolate", &extraction);
	return isolate_extraction(config, &background, &extraction, diag);
}

/* ---- rows that were extracted before ---- */

static int isolate_csv(const struct isolate_config *config, const char *path, struct diag *diag)
{
	CLEANUP(sample_table_release) struct sample_table table = { .rows = 0 };
	int r;

	if (config->isolator == ISOLATOR_PROFILE || config->isolator == ISOLATOR_TRAINER)
		return diag_set(diag, -EINVAL,
				"%s: rows do not say which container ran: this isolator needs the "
				"series (JSON)",
				path);
	r = sample_input_read(path, &table, diag);
	if (r == 0)
		r = isolate_rows(&table, (enum isolator)config->isolator, diag);
	return r < 0 ? r : write_rows(config, &table, diag);
}

static bool is_json(const char *path)
{
	char begin[16] = "";
	FILE *file = fopen(path, "re");
	size_t len = file ? fread(begin, 1, sizeof(begin) - 1, file) : 0;

	if (file)
		(void)fclose(file);
	return len && strchr("{[", begin[strspn(begin, " \t\r\n")]);
}

static int isolate(void *userdata, const struct operands *operands, struct diag *diag)
{
	struct isolate_config *config = userdata;
	const char *path = operands->count ? operands->words[0] : config->extract.input;
	char input[DATA_PATH_SIZE];

	if (!*path)
		return PROGRAM_WRONG_WORDS;
	path = data_path_of(config->extract.data_path, path, input);
	return is_json(path) || recorded_series_is(path) ? isolate_series(config, path, diag)
							 : isolate_csv(config, path, diag);
}

int isolate_main(int argc, char *const *argv, char *const *environ_)
{
	static const struct model_command command = { .name = "isolate",
						      .set = &isolate_command_options,
						      .shorts = shorts,
						      .max = 1,
						      .run = isolate };

	return model_command_run(&command, argc, argv, environ_);
}
