// SPDX-License-Identifier: Apache-2.0
#include "modelling/rows/extract_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "model/feature.h"
#include "modelling/option_checks.h"
#include "samples/recorded_series.h"

#define SMOOTH_ROWS               30 /* like upstream's extractor of that name */

#define OWN(member)               .offset = offsetof(struct extract_values, member)
#define CHECKED(member, function) OWN(member), .check = (function)

static const struct option_choice levels[] = { { "container", METRIC_CONTAINER },
					       { "process", METRIC_PROCESS },
					       { "vm", METRIC_VM },
					       { "node", METRIC_NODE },
					       { 0 } };
static const struct option_choice extractors[] = { { "default", EXTRACTOR_DEFAULT },
						   { "smooth", EXTRACTOR_SMOOTH },
						   { 0 } };
static const struct option_choice outputs[] = { { "AbsPower", OUTPUT_ABS_POWER },
						{ "DynPower", OUTPUT_DYN_POWER },
						{ 0 } };

const struct option extract_rows_of_options[EXTRACT_OPTION_COUNT] = {
	TEXT_FLAG("input", OWN(input), "", "FILE",
		  "Collected series: JSON from \"kepler-model collect\" or from the model server's "
		  "query, or a recording from \"kepler record\". Can also be given as an "
		  "operand."),
	TEXT_FLAG("output", OWN(output), "-", "FILE", "CSV file for the rows. -: standard output."),
	TEXT_FLAG("data-path", OWN(data_path), "", "FOLDER",
		  "Base directory for relative file names."),
	TEXT_FLAG("feature-group", CHECKED(feature_group, check_feature_group), "", "NAME",
		  "Only the features of this group, such as BPFOnly, CounterOnly or Basic. Empty: "
		  "all available features."),
	{ "energy-source", NULL, OPTION_STRINGS, OWN(sources),
	  .count_offset = offsetof(struct extract_values, source_count),
	  .list_max = EXTRACT_SOURCES_MAX, .default_text = "rapl-sysfs", .metavar = "SOURCE",
	  .only_flag = true,
	  .help = "Energy sources in order of preference; each component uses the first source "
		  "that has it. rapl, intel_rapl and rapl-sysfs are the same; series without a "
		  "source match any." },
	{ "level", NULL, OPTION_ENUM, OWN(level), .choices = levels, .default_text = "container",
	  .metavar = "LEVEL", .only_flag = true,
	  .help = "Level whose counters are used as features: summed over all containers, "
		  "processes or virtual machines; node uses the node's own counters." },
	{ "extractor", NULL, OPTION_ENUM, OWN(extractor), .choices = extractors,
	  .default_text = "default", .metavar = "NAME", .only_flag = true,
	  .help = "smooth: write the mean of every 30 rows instead." },
	{ "output-type", NULL, OPTION_ENUM, OWN(output_type), .choices = outputs,
	  .default_text = "AbsPower", .metavar = "TYPE", .only_flag = true,
	  .help = "AbsPower: one row per step of the node. DynPower: one row per step of each "
		  "container, with the power of the node." },
	TEXT_FLAG("node", OWN(node), "", "NAME",
		  "The instance whose series are used if there are several; any: they are one "
		  "machine with several addresses."),
};

/* "rapl-sysfs,acpi" as two. */
static void add_sources(char *text, struct extract_options *ret)
{
	while (text && ret->source_count < EXTRACT_SOURCES_MAX)
		ret->sources[ret->source_count++] = strsep(&text, ",");
}

void extract_options_make(struct extract_values *values, struct extract_options *ret)
{
	const struct feature_group *group = feature_group_find(values->feature_group);

	*ret = (struct extract_options){
		.level = (enum metric_level)values->level,
		.node = values->node,
		.features = group ? group->features : NULL,
		.by_owner = values->output_type == OUTPUT_DYN_POWER,
		.smooth = values->extractor == EXTRACTOR_SMOOTH ? SMOOTH_ROWS : 0,
	};
	for (size_t i = 0; i < values->source_count; i++)
		add_sources(values->sources[i], ret);
}

int extract_any(const struct extract_options *options, const char *path, struct extraction *ret,
		struct diag *diag)
{
	return recorded_series_is(path) ? extraction_of_recording(options, path, ret, diag)
					: extraction_of_file(options, path, ret, diag);
}

void extract_print_summary(const char *command, const struct extraction *extraction)
{
	(void)fprintf(stderr, "kepler-model %s: %zu rows of %g s from %llu series", command,
		      extraction->table.rows, (double)extraction->step_us / 1e6,
		      (unsigned long long)extraction->series);
	for (size_t i = 0; i < extraction->component_count; i++) {
		const struct extraction_component *component = &extraction->components[i];

		if (component->energy_j > 0)
			(void)fprintf(stderr, "; %s %.1f to %.1f W, %.3f J", component->name,
				      component->minimum_w, component->maximum_w,
				      component->energy_j);
	}
	(void)fprintf(stderr, "\n");
	if (extraction->steps_left_out || extraction->faults.resets || extraction->faults.gaps ||
	    extraction->faults.disorder || extraction->faults.not_numbers ||
	    extraction->duplicates || extraction->implausible)
		(void)fprintf(stderr,
			      "kepler-model %s: left out: %llu steps without power; found: %llu "
			      "resets, %llu gaps, %llu points out of order, %llu that are not "
			      "numbers, %llu duplicates, %llu impossible amounts of energy\n",
			      command, (unsigned long long)extraction->steps_left_out,
			      (unsigned long long)extraction->faults.resets,
			      (unsigned long long)extraction->faults.gaps,
			      (unsigned long long)extraction->faults.disorder,
			      (unsigned long long)extraction->faults.not_numbers,
			      (unsigned long long)extraction->duplicates,
			      (unsigned long long)extraction->implausible);
	if (extraction->steps_late)
		(void)fprintf(stderr,
			      "kepler-model %s: %llu steps were left out because the counters "
			      "stood still in the step before: a step must be at least two of the "
			      "exporter's intervals long\n",
			      command, (unsigned long long)extraction->steps_late);
}
