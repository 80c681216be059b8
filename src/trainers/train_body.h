/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of a request to train, as upstream's offline trainer takes it:
 *
 *	{"name", "energy_source", "trainer": {"abs_trainers": […], "dyn_trainers": […],
 *	 "idle_prom_response": {…}, "isolator", "isolator_args": {…}}, "prom_response": {…},
 *	 "use_vm_metrics"}
 *
 * and in addition our own "machine_spec" (the machine that the series come from) and "node" (its
 * instance, if the series come from several). In isolator_args, "abs_pipeline_name" is upstream's;
 * "bg_hints" and "target_hints", lists of parts of names, are options of its program.
 * Names of trainers and isolators are looked up in tables. Series are found, not read: they stay a
 * part of the body. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "model/trained_model.h"
#include "training/model_training.h"

#define TRAIN_BODY_MAX  (64U << 20) /* bytes */
#define TRAIN_NAME_MAX  64
#define TRAIN_SPEC_NONE "unknown" /* the processor of a machine that the body does not name */

enum train_isolator {
	TRAIN_ISOLATE_MINIMUM, /* the default */
	TRAIN_ISOLATE_NONE,
	TRAIN_ISOLATE_IDLE,    /* our own: rows in which nothing ran, or a line at no load */
	TRAIN_ISOLATE_PROFILE, /* by the series of an idle time */
	TRAIN_ISOLATE_MODEL,   /* by a model's estimate of the background */
};

/* A part of the body that has series. */
struct train_series {
	const char *text; /* NULL: missing */
	size_t len;
};

struct train_trainers {
	const struct trainer *list[TRAINERS_MAX]; /* each once */
	size_t count;
};

#define TRAIN_HINTS_MAX 16

struct train_hints {
	char text[TRAIN_HINTS_MAX][TRAIN_NAME_MAX];
	size_t count;
};

struct train_body {
	char name[TRAIN_NAME_MAX];   /* of the pipeline: letters, digits, ".", "-" and "_" */
	char source[TRAIN_NAME_MAX]; /* of energy */
	char node[MODEL_NAME_MAX];   /* "": the only one */
	struct train_trainers trainers[MODEL_OUTPUT_COUNT];
	enum train_isolator isolator;
	bool uses_vm_metrics;
	/* For TRAIN_ISOLATE_MODEL: the pipeline of its models, "": any; what is background. */
	char abs_pipeline[TRAIN_NAME_MAX];
	struct train_hints bg_hints, target_hints;
	struct machine_spec machine;
	struct train_series series, idle;
};

/*
 * @ret borrows @text. 0; -EINVAL with all faults and their places: the JSON, or the members, see
 * diag_add(); -ENOMEM. @diag is initialised.
 */
int train_body_read(const char *text, size_t len, struct train_body *ret, struct diag *diag);
