// SPDX-License-Identifier: Apache-2.0
#include "modelling/training_options.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/macro.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "model/feature.h"
#include "modelling/option_checks.h"
#include "options/version.h"
#include "samples/power_column.h"

#define OWN(member)               .offset = offsetof(struct training_values, member)
#define CHECKED(member, function) OWN(member), .check = (function)

static const struct option_choice outputs[] = { { "AbsPower", MODEL_ABS_POWER },
						{ "DynPower", MODEL_DYN_POWER },
						{ 0 } };
static const struct option_choice validations[] = {
	{ "random", FOLDS_RANDOM }, { "blocked", FOLDS_BLOCKED }, { "groups", FOLDS_GROUPS }, { 0 }
};
static const struct option_choice formats[] = { { "table", TRAINING_TABLE },
						{ "json", TRAINING_JSON },
						{ 0 } };

#define NUMBER(option, member, variable, most, text)                                               \
	{                                                                                          \
		option, NULL, OPTION_U32, OWN(member), .max = most, .default_text = "0",           \
						       .metavar = variable, .only_flag = true,     \
						       .help = text                                \
	}

const struct option training_rows_of_options[TRAINING_OPTION_COUNT] = {
	TEXT_FLAG("input", OWN(input), "", "FILE",
		  "Rows as CSV, optionally compressed with gzip, at most 1,000,000. Can also be "
		  "operands: "
		  "files, folders with *.csv and *.csv.gz files, and @FILE with one file name per "
		  "line."),
	TEXT_FLAG("output", OWN(output), "", "PATH",
		  "File for the model; for train, the folder for the models."),
	TEXT_FLAG("data-path", OWN(data_path), "", "FOLDER",
		  "Base directory for relative file names."),
	TEXT_FLAG("feature-group", CHECKED(group, check_feature_group), "", "NAME",
		  "Train on the features of this group, such as BPFOnly, CounterOnly or BPFIRQ. "
		  "Default: all known features in the rows."),
	TEXT_FLAG("features", OWN(features), "", "NAMES",
		  "Train on these columns instead, separated by commas. A recent mean, such as "
		  "bpf_cpu_time_ms_mean_30s, is computed from the rows in the order of time."),
	TEXT_FLAG("thirdparty-metrics", OWN(third_party), "", "NAMES",
		  "Additional feature columns, separated by commas."),
	TEXT_FLAG(
		"trainers", CHECKED(trainers, check_trainers), "", "NAMES",
		"Trainers to compare, separated by commas; the one with the smallest errors is "
		"used. "
		"Default: RatioBlend, RatioTrees, SteadyTrees, SteadyCurve and "
		"PolynomialRegressionTrainer. Others: BlendedTrees, ExtraTrees, XgboostFitTrainer, "
		"MonotoneBoosting, GradientBoostingRegressorTrainer, LinearRegressionTrainer, "
		"LeastSquares, Ridge, SGDRegressorTrainer, KNeighborsRegressorTrainer, "
		"SVRRegressorTrainer and Logarithmic-, Logistic- and "
		"ExponentialRegressionTrainer."),
	TEXT_FLAG("components", OWN(components), "", "NAMES",
		  "Components, separated by commas: the power of package is in the column "
		  "package_power. Default: all components whose power varies."),
	{ "output-type", NULL, OPTION_ENUM, OWN(output_type), .choices = outputs,
	  .default_text = "AbsPower", .metavar = "TYPE", .only_flag = true,
	  .help = "AbsPower: the rows' power includes idle power. DynPower: it does not." },
	TEXT_FLAG("energy-source", OWN(source), "rapl-sysfs", "SOURCE",
		  "The meter that measured the power; stored in the model."),
	{ "validation", NULL, OPTION_ENUM, OWN(validation), .choices = validations,
	  .default_text = "blocked", .metavar = "KIND", .only_flag = true,
	  .help = "How rows are held out. blocked: neighbouring rows together, for rows in order "
		  "of time; random: at random, for rows without an order; groups: all rows with "
		  "the same value of --group-by." },
	{ "folds", NULL, OPTION_U32, OWN(folds), .min = FOLDS_MIN, .max = FOLDS_MAX,
	  .default_text = "10", .metavar = "COUNT", .only_flag = true,
	  .help = "Number of parts into which rows are divided. Each part is held out once." },
	TEXT_FLAG("group-by", OWN(group_by), "", "COLUMN",
		  "Column whose equal values are held out together, such as a machine's number. "
		  "Implies "
		  "--validation=groups. @file stands for the row's file; it is the default if "
		  "there are "
		  "at least as many files as --folds."),
	TEXT_FLAG("split-column", OWN(split_column), "", "COLUMN",
		  "Instead of folds, hold out once the rows with a value above 0 in this column."),
	NUMBER("seed", seed, "NUMBER", UINT32_MAX,
	       "Seed of random numbers. The same seed gives the same model."),
	{ "format", NULL, OPTION_ENUM, OWN(format), .choices = formats, .default_text = "table",
	  .metavar = "FORMAT", .only_flag = true, .help = "Format of the printed errors." },
	TEXT_FLAG("model-name", OWN(model_name), "", "NAME",
		  "Name of the model. Default: the trainer and the "
		  "node type."),
	TEXT_FLAG("pipeline-name", OWN(pipeline), "", "NAME",
		  "Name of the pipeline, stored in the model."),
	TEXT_FLAG("id", OWN(machine_id), "", "NAME", "Id of the machine, stored in the model."),
	TEXT_FLAG("node-type", OWN(node_type), "", "NUMBER",
		  "Type of the machine in a model repository."),
	TEXT_FLAG("machine.processor", OWN(processor), "", "NAME",
		  "Processor of the machine that the rows are from, as in a repository's node "
		  "types."),
	NUMBER("machine.cores", cores, "COUNT", 65536, "Its number of logical CPUs; 0: unknown."),
	NUMBER("machine.chips", chips, "COUNT", 4096, "Its number of sockets; 0: unknown."),
	NUMBER("machine.memory", memory_gb, "GB", 1000000, "Its memory; 0: unknown."),
	NUMBER("machine.frequency", frequency_mhz, "MHZ", 100000,
	       "Its maximum frequency; 0: unknown."),
	TEXT_FLAG("held-out", OWN(held_out), "", "FILE",
		  "train-from-data: also write the chosen trainer's prediction for each row while "
		  "it was "
		  "held out, as CSV; plot shows it."),
	SWITCH_FLAG("skip-bad-rows", OWN(skip_bad_rows),
		    "Skip and count unreadable rows instead of stopping at the first one."),
};

const struct short_flag training_short_flags[] = {
	{ "-i", "input" },
	{ "-o", "output" },
	{ "-e", "energy-source" },
	{ "-ot", "output-type" },
	{ "-fg", "feature-group" },
	{ "-p", "pipeline-name" },
	{ "-tm", "thirdparty-metrics" },
	{ NULL, NULL },
};

/* Other trainers are not significantly better on the machines of docs/models.md. */
static const char *const default_trainers[] = {
	"RatioBlend", "RatioTrees", "SteadyTrees", "SteadyCurve", "PolynomialRegressionTrainer",
};

/* Splits @text at its commas, in place. */
static int add_names(char *text, const char *option, struct name_list *list, struct diag *diag)
{
	char *name;

	while ((name = strsep(&text, ",")) != NULL) {
		if (!*name)
			continue;
		if (list->count == NAMES_MAX)
			return diag_set(diag, -EINVAL, "%s: more than %d names", option, NAMES_MAX);
		list->names[list->count++] = name;
	}
	return 0;
}

static int make_trainers(struct training_values *values, struct training_request *ret,
			 struct diag *diag)
{
	struct name_list list = { .count = 0 };
	int r = add_names(values->trainers, "trainers", &list, diag);

	for (size_t i = 0; !list.count && i < ARRAY_SIZE(default_trainers); i++)
		ret->trainers[ret->trainer_count++] = trainer_find(default_trainers[i]);
	for (size_t i = 0; r == 0 && i < list.count; i++) {
		const struct trainer *trainer = trainer_find(list.names[i]);

		if (!trainer)
			return diag_set(diag, -EINVAL,
					"trainers: there is no trainer %.80s; see --help",
					list.names[i]);
		if (ret->trainer_count == TRAINERS_MAX)
			return diag_set(diag, -EINVAL, "trainers: more than %d", TRAINERS_MAX);
		ret->trainers[ret->trainer_count++] = trainer;
	}
	return r;
}

/* A constant power, such as a zone's that is always 0, teaches nothing. */
static bool power_varies(const struct sample_table *table, size_t column)
{
	double lowest = (double)INFINITY, highest = -(double)INFINITY;

	for (size_t row = 0; row < table->rows; row++) {
		lowest = fmin(lowest, table->columns[column][row]);
		highest = fmax(highest, table->columns[column][row]);
	}
	return highest > lowest || (table->rows == 1 && highest > 0);
}

/* Replaces the option's value by the names of all components with varying power. */
static int find_components(struct training_values *values, const struct sample_table *table)
{
	CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT;
	char name[SAMPLE_NAME_MAX];

	for (size_t i = 0; i < table->column_count; i++) {
		if (power_column_component(table->names[i], name) && power_varies(table, i))
			strbuf_addf(&names, "%s,", name);
	}
	if (strbuf_error(&names) < 0 || !names.data)
		return strbuf_error(&names);
	free(values->components);
	values->components = TAKE_PTR(names.data);
	return 0;
}

static int make_components(struct training_values *values, const struct sample_table *table,
			   struct training_names *names, struct diag *diag)
{
	int r = *values->components ? 0 : find_components(values, table);

	if (r < 0)
		return diag_set(diag, r, "out of memory");
	r = add_names(values->components, "components", &names->components, diag);
	if (r == 0 && names->components.count == 0)
		return diag_set(diag, -ENOENT,
				"no column is the power of a component, such as package_power, or "
				"each of them has the same value in all rows");
	if (r == 0 && names->components.count > MODEL_COMPONENTS_MAX)
		return diag_set(diag, -EINVAL, "components: more than %d", MODEL_COMPONENTS_MAX);
	return r;
}

static int find_features(const struct sample_table *table, struct name_list *list,
			 struct diag *diag)
{
	for (size_t i = 0; i < table->column_count && list->count < NAMES_MAX; i++) {
		const struct feature *known = feature_find(table->names[i]);

		if (known && !known->by_name_only)
			list->names[list->count++] = table->names[i];
	}
	if (list->count == 0)
		return diag_set(diag, -ENOENT,
				"no column is a known feature; name the columns with --features");
	return 0;
}

int training_options_use_group(const char *group, const struct sample_table *table,
			       struct training_names *names, struct training_request *ret,
			       struct diag *diag)
{
	const struct feature_group *found = feature_group_find(group);

	assert(found); /* checked with the options */
	names->features.count = 0;
	for (size_t i = 0; found->features[i]; i++) {
		if (sample_table_find(table, found->features[i]) == SAMPLE_COLUMN_NONE)
			return diag_set(diag, -ENOENT,
					"feature-group: %s needs the column %s, which is not there",
					group, found->features[i]);
		names->features.names[names->features.count++] = found->features[i];
	}
	ret->features = names->features.names;
	ret->feature_count = names->features.count;
	return 0;
}

static int make_features(struct training_values *values, const struct sample_table *table,
			 struct training_names *names, struct training_request *ret,
			 struct diag *diag)
{
	int r = 0;

	if (*values->features)
		r = add_names(values->features, "features", &names->features, diag);
	else if (*values->group)
		r = training_options_use_group(values->group, table, names, ret, diag);
	else
		r = find_features(table, &names->features, diag);
	if (r == 0)
		r = add_names(values->third_party, "thirdparty-metrics", &names->features, diag);
	ret->features = names->features.names;
	ret->feature_count = names->features.count;
	return r;
}

int training_options_make(struct training_values *values, const struct sample_table *table,
			  struct training_names *names, struct training_request *ret,
			  struct diag *diag)
{
	int r;

	*names = (struct training_names){ .features = { .count = 0 } };
	*ret = (struct training_request){
		.plan = { .kind = *values->group_by ? FOLDS_GROUPS
						    : (enum fold_kind)values->validation,
			  .folds = values->folds,
			  .seed = values->seed },
		.group_column = values->group_by,
		.split_column = *values->split_column ? values->split_column : NULL,
	};
	r = make_trainers(values, ret, diag);
	if (r == 0)
		r = make_components(values, table, names, diag);
	if (r == 0)
		r = make_features(values, table, names, ret, diag);
	ret->components = names->components.names;
	ret->component_count = names->components.count;
	return r;
}

static void describe_origin(const struct training_values *values, const char *data,
			    struct model_origin *ret)
{
	time_t now = time(NULL);
	struct tm date;

	(void)snprintf(ret->data, sizeof(ret->data), "%s%s%s%s%s", data,
		       *values->machine_id ? ", " : "", values->machine_id,
		       *values->pipeline ? ", " : "", values->pipeline);
	(void)snprintf(ret->tool, sizeof(ret->tool), "kepler-model %s", KEPLER_VERSION);
	if (gmtime_r(&now, &date))
		(void)strftime(ret->trained_at, sizeof(ret->trained_at), "%Y-%m-%dT%H:%M:%SZ",
			       &date);
}

int training_options_describe(const struct training_values *values, const char *data,
			      struct trained_model *ret, struct diag *diag)
{
	const char *slash = strrchr(data, '/');
	uint64_t node_type = 0;

	if (*values->node_type &&
	    (parse_u64(values->node_type, strlen(values->node_type), &node_type) < 0 ||
	     node_type > INT32_MAX))
		return diag_set(diag, -EINVAL, "node-type: must be a number, not \"%.40s\"",
				values->node_type);

	ret->output = (enum model_output)values->output_type;
	ret->node_type = *values->node_type ? (int32_t)node_type : -1;
	(void)snprintf(ret->source, sizeof(ret->source), "%s", values->source);
	(void)snprintf(ret->name, sizeof(ret->name), "%s", values->model_name);
	(void)snprintf(ret->machine.processor, sizeof(ret->machine.processor), "%s",
		       values->processor);
	ret->machine.cores = values->cores;
	ret->machine.chips = values->chips;
	ret->machine.memory_gb = values->memory_gb;
	ret->machine.frequency_mhz = values->frequency_mhz;
	describe_origin(values, slash ? slash + 1 : data, &ret->origin);
	return 0;
}

int training_options_path(const struct training_values *values, const char *name, char **ret)
{
	const char *folder = *name == '/' ? "" : values->data_path;

	return asprintf(ret, "%s%s%s", folder, *folder ? "/" : "", name) < 0 ? -ENOMEM : 0;
}
