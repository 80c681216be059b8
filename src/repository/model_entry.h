/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The facts about a repository's model that are known without reading it: its place, its features,
 * its output and its error. They come from a row of a pipeline's table
 * (SOURCE_OUTPUT_model_metadata.csv), from the model's metadata.json, or from the head of a file of
 * our own format. Pure.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "model/trained_model.h"

#define ENTRY_ERRORS_MAX 8
#define ENTRY_NAME_MAX   64

/* The files of a model in a repository: in one folder, with the model's name. */
enum model_file {
	FILE_WEIGHTS = 1 << 0, /* NAME.json, upstream's weights or our own format */
	FILE_ARCHIVE = 1 << 1, /* NAME.zip */
};

struct entry_error {
	char component[16]; /* "package" */
	double mae_w, mape_percent;
};

struct model_entry {
	uint32_t pipeline; /* index in the repository */
	enum model_output output;
	char source[32];            /* "rapl-sysfs" */
	char group[ENTRY_NAME_MAX]; /* "BPFOnly" */
	char name[ENTRY_NAME_MAX];  /* "XgboostFitTrainer_0" */
	char trainer[ENTRY_NAME_MAX];
	char kind[16];        /* "scikit", "xgboost", "curvefit", "kepler"; "" unknown */
	int32_t node_type;    /* -1 unknown, or none */
	unsigned files;       /* of enum model_file */
	const char *features; /* "a,b,c"; owned by the repository; "" unknown */
	/* The published error, the largest of all components; NAN: unknown. */
	double mae_w;
	/* The error of the main component: platform, package, or the first one; NAN unknown. */
	double mape_percent;
	struct entry_error errors[ENTRY_ERRORS_MAX];
	size_t error_count;
	struct machine_spec machine; /* of its node type */
	bool weights_are_bad;        /* no program should use them: trained_model_check() */
	const char *weights_fault;   /* why; NULL: they are good, or it was not kept */
};

/* "NAME_12" → trainer and node type; false: the name has no number. */
bool model_entry_take_name(struct model_entry *entry, const char *name);
/*
 * Takes errors, kind and machine from metadata.json, or from a row of the table as an object.
 * Features are returned separately, as "a,b,c" that the caller owns, or NULL.
 */
int model_entry_take_metadata(struct model_entry *entry, const json_t *metadata,
			      char **ret_features);
/* Does its archive need pickles to be used? Such models are listed and served, never loaded. */
bool model_entry_is_pickled(const struct model_entry *entry);
/* "AbsPower", "DynPower". */
const char *model_output_name(enum model_output output);
/* False: it is neither. */
bool model_output_parse(const char *text, enum model_output *ret);
