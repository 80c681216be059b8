/* SPDX-License-Identifier: Apache-2.0 */
/* Options of all commands that extract samples from series. */
#pragma once

#include "options/option.h"
#include "samples/extraction.h"

#define EXTRACT_OPTION_COUNT 9

struct extract_values {
	char *sources[EXTRACT_SOURCES_MAX];
	size_t source_count;
	char *input, *node;
	int level, extractor, output_type;
	char *output, *data_path, *feature_group;
};

enum { EXTRACTOR_DEFAULT, EXTRACTOR_SMOOTH };
enum { OUTPUT_ABS_POWER, OUTPUT_DYN_POWER };

/* Rows over struct extract_values. */
extern const struct option extract_rows_of_options[EXTRACT_OPTION_COUNT];

/* The options of an extraction; texts are borrowed, and lists with commas are split in place. */
void extract_options_make(struct extract_values *values, struct extract_options *ret);
/* For a file with series, or a recording: as extraction_of_file(). */
int extract_any(const struct extract_options *options, const char *path, struct extraction *ret,
		struct diag *diag);
/* Prints a summary of the rows, and of left out points and steps, to standard error. */
void extract_print_summary(const char *command, const struct extraction *extraction);
