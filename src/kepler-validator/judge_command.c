// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/judge_command.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "evidence/artifact_folder.h"
#include "evidence/phase_file.h"
#include "evidence/published_report.h"
#include "evidence/recordings/recording_ring.h"
#include "evidence/series_file.h"
#include "judging/judge.h"
#include "judging/published.h"
#include "kepler-validator/checks/percent.h"
#include "kepler-validator/report_output.h"
#include "kepler-validator/result_text.h"
#include "kepler-validator/validator_options.h"
#include "options/layers.h"
#include "options/program.h"

struct judge_config {
	struct option_values options;
	char *actual, *predicted, *name, *max_error, *actual_error, *phases, *published,
		*published_name, *output;
	uint64_t max_lag_ns;
	int actual_kind, predicted_kind;
};

static const struct option_choice kinds[] = {
	{ "auto", SERIES_AUTO }, { "rate", SERIES_RATE }, { "counter", SERIES_COUNTER }, { NULL }
};

#define OWN(member) .offset = offsetof(struct judge_config, member)

static const struct option rows[] = {
	{ "actual", NULL, OPTION_STRING, OWN(actual), .default_text = "", .metavar = "FILE[#WORDS]",
	  .may_be_empty = true, .only_flag = true,
	  .help = "The series that is taken as true: CSV, the JSON of a Prometheus range query, "
		  "an artifact of upstream's validator, a recording of Kepler, or its directory "
		  "of recordings; gzip is supported. If the file has several series, WORDS select "
		  "the one whose column, metric or labels contain them. FILE can also be a folder "
		  "of artifacts; WORDS is then the label with which file names begin, and each of "
		  "these files is paired with the file of the predicted label." },
	{ "predicted", NULL, OPTION_STRING, OWN(predicted), .default_text = "",
	  .metavar = "FILE[#WORDS]", .may_be_empty = true, .only_flag = true,
	  .help = "The series that is judged." },
	{ "max-error", NULL, OPTION_STRING, OWN(max_error), .default_text = "",
	  .metavar = "PERCENT", .may_be_empty = true, .only_flag = true, .check = percent_check,
	  .help = "The largest permitted error of each phase's energy, and of the shape as part of "
		  "the range, such as 5%. Without it, errors are printed but there is no "
		  "verdict." },
	{ "actual-error", NULL, OPTION_STRING, OWN(actual_error), .default_text = "0%",
	  .metavar = "PERCENT", .only_flag = true, .check = percent_check,
	  .help = "The own error of the actual series' meter. An energy fails only if it is beyond "
		  "--max-error by more than this." },
	{ "max-lag", NULL, OPTION_DURATION, OWN(max_lag_ns), OPTION_RANGE(0, 3600 * NSEC_PER_SEC),
	  .default_text = "10s", .metavar = "DURATION", .only_flag = true,
	  .help = "The longest permitted delay of one series against the other. A delay up to "
		  "this is taken out before energies are compared." },
	{ "phases", NULL, OPTION_STRING, OWN(phases), .default_text = "", .metavar = "FILE",
	  .may_be_empty = true, .only_flag = true,
	  .help = "CSV with the lines NAME,START,END of the phases to judge. Default: up to ten "
		  "parts of equal length." },
	{ "output", NULL, OPTION_STRING, OWN(output), .default_text = "", .metavar = "DIR",
	  .may_be_empty = true, .only_flag = true, .help = REPORT_OUTPUT_HELP },
	{ "name", NULL, OPTION_STRING, OWN(name), .default_text = "", .metavar = "NAME",
	  .may_be_empty = true, .only_flag = true,
	  .help = "Name of the result. Default: the predicted series." },
	{ "actual-kind", NULL, OPTION_ENUM, OWN(actual_kind), .choices = kinds,
	  .default_text = "auto", .metavar = "KIND", .only_flag = true,
	  .help = "Whether values are mean rates, such as watts, or a counter, such as joules; "
		  "auto: by the name." },
	{ "predicted-kind", NULL, OPTION_ENUM, OWN(predicted_kind), .choices = kinds,
	  .default_text = "auto", .metavar = "KIND", .only_flag = true,
	  .help = "The same for the predicted series." },
	{ "published", NULL, OPTION_STRING, OWN(published), .default_text = "", .metavar = "FILE",
	  .may_be_empty = true, .only_flag = true,
	  .help = "JSON report of upstream's validator: its errors are recomputed from both "
		  "series." },
	{ "published-name", NULL, OPTION_STRING, OWN(published_name), .default_text = "",
	  .metavar = "NAME", .may_be_empty = true, .only_flag = true,
	  .help = "The result in that report. Default: the one with the nearest MSE." },
};
static const struct option_section sections[] = { { rows, ARRAY_SIZE(rows), 0 } };

const struct option_set judge_options = {
	.program = &validator_program,
	.base = &validator_options,
	.sections = sections,
	.section_count = ARRAY_SIZE(sections),
	.size = sizeof(struct judge_config),
};

/* Where the two series are. */
struct places {
	const char *actual, *predicted;
};

static int read_both(const struct judge_config *config, const struct places *places,
		     struct result *result, struct diag *diag)
{
	int r = series_file_read(places->actual, (enum series_kind)config->actual_kind,
				 &result->actual, diag);
	if (r == 0)
		r = series_file_read(places->predicted, (enum series_kind)config->predicted_kind,
				     &result->predicted, diag);
	if (r < 0)
		return r;
	if (strcmp(result->actual->unit, result->predicted->unit) != 0)
		return diag_set(diag, -EINVAL,
				"the units differ: %s in %s, %s in %s; choose other series, or "
				"rename the column",
				result->actual->unit, places->actual, result->predicted->unit,
				places->predicted);
	return 0;
}

static int judge_files(const struct judge_config *config, const struct places *places,
		       struct result *result, struct diag *diag)
{
	CLEANUP_FREE struct phase *phases = NULL;
	size_t phase_count = 0;

	int r = read_both(config, places, result, diag);
	if (r == 0 && *config->phases)
		r = phase_file_read(config->phases, &phases, &phase_count, diag);
	if (r < 0)
		return r;
	(void)percent_parse(config->max_error, &result->threshold.max_error);
	(void)percent_parse(config->actual_error, &result->threshold.truth_error);
	result->threshold.max_lag_s = (double)config->max_lag_ns / (double)NSEC_PER_SEC;
	(void)snprintf(result->exporter, sizeof(result->exporter), "%s", places->predicted);
	r = judge_series(result, phases, phase_count);
	return r < 0 ? diag_set(diag, r, "out of memory") : 0;
}

/* The published result that is meant, or NULL with a diagnosis. */
static const struct published *choose_published(const struct published_report *report,
						const struct judge_config *config,
						const struct result *judged, struct diag *diag)
{
	const struct published *best = NULL;
	struct recomputed found;

	published_recompute(judged->actual, judged->predicted, &found);
	for (size_t i = 0; i < report->count; i++) {
		const struct published *item = &report->items[i];
		if (*config->published_name && strcmp(item->name, config->published_name) == 0)
			return item;
		if (!best || fabs(item->mse - found.mse) < fabs(best->mse - found.mse))
			best = item;
	}
	if (!*config->published_name)
		return best;
	(void)diag_set(diag, -ENOENT, "%s: has no result \"%s\"; the first is \"%s\"",
		       config->published, config->published_name, report->items[0].name);
	return NULL;
}

static int judge_published(const struct judge_config *config, const struct result *judged,
			   struct result_list *list, struct diag *diag)
{
	CLEANUP(published_report_release) struct published_report report = { 0 };
	char name[RESULT_NAME_MAX + 16];

	int r = published_report_read(config->published, &report, diag);
	if (r < 0)
		return r;
	const struct published *published = choose_published(&report, config, judged, diag);
	if (!published)
		return -ENOENT;
	(void)snprintf(name, sizeof(name), "published/%s", published->name);
	struct result *result = result_new(name, RESULT_PUBLISHED);
	if (!result)
		return diag_set(diag, -ENOMEM, "out of memory");
	published_judge(result, published, judged->actual, judged->predicted);
	return result_list_add(list, result);
}

static int judge_pair_of_files(const struct judge_config *config, struct result_list *list,
			       struct diag *diag)
{
	const struct places places = { config->actual, config->predicted };
	struct result *result = result_new(config->name, RESULT_ACCURACY);
	int r = result ? judge_files(config, &places, result, diag) : -ENOMEM;

	if (r < 0) {
		result_free(result);
		return r;
	}
	if (!*config->name)
		(void)snprintf(result->name, sizeof(result->name), "%.*s", RESULT_NAME_MAX - 1,
			       result->predicted->name);
	r = result_list_add(list, result);
	return r == 0 && *config->published ? judge_published(config, result, list, diag) : r;
}

/* A pair that cannot be read decides nothing, and the others are judged all the same. */
static int judge_artifact(const struct judge_config *config, const struct artifact_pair *pair,
			  struct result_list *list)
{
	const struct places places = { pair->actual, pair->predicted };
	struct result *result = result_new(pair->name, RESULT_ACCURACY);
	struct diag diag = { "" };

	if (!result)
		return -ENOMEM;
	if (judge_files(config, &places, result, &diag) < 0) {
		result_free(result);
		result = result_new(pair->name, RESULT_ACCURACY);
		if (!result)
			return -ENOMEM;
		result_set_verdict(result, VERDICT_INCONCLUSIVE, "%s.", diag.text);
	}
	return result_list_add(list, result);
}

static int add_files_without_partner(size_t alone, const struct judge_config *config,
				     struct result_list *list)
{
	struct result *result = alone ? result_new("artifacts", RESULT_CORRECTNESS) : NULL;

	if (!result)
		return alone ? -ENOMEM : 0;
	result_set_verdict(result, VERDICT_INCONCLUSIVE,
			   "Files of %s without a partner in %s, which are not judged: %zu.",
			   config->actual, config->predicted, alone);
	return result_list_add(list, result);
}

static int judge_folders(const struct judge_config *config, struct result_list *list,
			 struct diag *diag)
{
	CLEANUP_FREE struct artifact_pairs *pairs = calloc(1, sizeof(*pairs));

	if (!pairs)
		return -ENOMEM;
	int r = artifact_folder_pair(config->actual, config->predicted, pairs, diag);
	for (size_t i = 0; i < pairs->count && r == 0; i++)
		r = judge_artifact(config, &pairs->items[i], list);
	if (r == 0)
		r = add_files_without_partner(pairs->alone, config, list);
	artifact_pairs_release(pairs);
	return r;
}

static bool is_artifact_folder(const char *place)
{
	return artifact_folder_is(place) && !recording_ring_is(place);
}

static int judge(const struct judge_config *config, struct result_list *list, struct diag *diag)
{
	bool is_folder = is_artifact_folder(config->actual);

	if (is_folder != is_artifact_folder(config->predicted))
		return diag_set(diag, -EINVAL,
				"--actual and --predicted must be two files or two folders");
	if (is_folder && (*config->name || *config->published))
		return diag_set(diag, -EINVAL, "%s: is for two files, not for folders of artifacts",
				*config->name ? "name" : "published");
	return is_folder ? judge_folders(config, list, diag)
			 : judge_pair_of_files(config, list, diag);
}

static int print(const struct result_list *list)
{
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;

	for (size_t i = 0; i < list->count; i++)
		result_text_add(&out, list->items[i]);
	if (strbuf_error(&out) < 0 || fwrite(out.data, 1, out.len, stdout) != out.len ||
	    fflush(stdout) != 0) {
		(void)fprintf(stderr, "kepler-validator judge: the output cannot be written\n");
		return PROGRAM_USAGE;
	}
	return verdict_exit_code(result_list_verdict(list));
}

int judge_main(int argc, char *const *argv, char *const *environ_)
{
	const struct option_args args = { .argc = argc, .argv = argv, .environ_ = environ_ };
	struct judge_config config = { .max_lag_ns = 0 };
	struct result_list list = { 0 };
	struct diag diag = { "" };
	int status = PROGRAM_USAGE;

	if (options_load_or_print(&judge_options, &args, &config.options, stderr) < 0)
		return PROGRAM_USAGE;
	if (!*config.actual || !*config.predicted)
		(void)diag_set(&diag, -EINVAL, "--actual and --predicted are needed");
	else if (judge(&config, &list, &diag) == 0 &&
		 report_output_write(config.output, &list, "judge", &args, &diag) == 0)
		status = print(&list);
	if (diag.text[0])
		diag_print(&diag, "kepler-validator judge", stderr);
	result_list_release(&list);
	options_release(&judge_options, &config.options);
	return status;
}
