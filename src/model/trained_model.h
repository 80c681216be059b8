/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trained power model: what a node or a process does, as features with names → watts by component
 * ("package", "core", "dram", "platform"), with its error, its origin and the rows that it has
 * learned from, as far as known. Pure: text in, values out.
 *
 * Files of upstream's model server (weights, XGBoost JSON) become the same structure as files of
 * our own; docs/models.md has the formats, and what each kind of model is for. A model is read
 * whole and checked, or refused with the reason.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "model/predictor.h"

#define MODEL_NAME_MAX       96
#define MODEL_FILE_MAX       (16U * 1024 * 1024) /* bytes of one that is read */
#define MODEL_COMPONENTS_MAX 8
#define MODEL_WATTS_MAX      100000.0 /* more than any machine draws */

/* ABS: the power of a node with idle power. DYN: without it, for a node or for its processes. */
enum model_output { MODEL_ABS_POWER, MODEL_DYN_POWER, MODEL_OUTPUT_COUNT };

struct model_feature {
	char name[MODEL_NAME_MAX]; /* "bpf_cpu_time_ms": its metric, without prefix and _total */
	double scale;              /* the value is divided by it; 0: the feature counts as 0 */
	double minimum, maximum;   /* of the training rows, unscaled; NAN unknown */
};

/* Errors on rows that the model had not seen. NAN: unknown, never 0. */
struct model_error {
	double mae_w;
	double mape_percent;
	/*
	 * Nine of ten predictions lie within ± this, and, where the error grows with power, within
	 * ± the second times the prediction: the larger of the two counts.
	 */
	double bound_w;
	double bound_ratio;
	uint64_t rows; /* rows that it was measured on; 0: unknown */
	bool blocked;  /* whole blocks of time or machines were held out, not single rows */
};

struct model_component {
	char name[MODEL_NAME_MAX];
	struct model_feature *features;
	size_t feature_count; /* == predictor.features */
	struct predictor predictor;
	struct model_error error;
	double minimum_w, maximum_w; /* of the training rows; NAN unknown */
};

/* "" and 0 if unknown. Only known values are compared. */
struct machine_spec {
	char vendor[32];
	char processor[MODEL_NAME_MAX]; /* "intel_xeon_e5_2686v4": as node types are named */
	uint32_t cores;                 /* logical */
	uint32_t chips;
	uint32_t memory_gb;
	uint32_t frequency_mhz; /* highest */
	uint32_t threads_per_core;
};

struct model_origin {
	char trainer[MODEL_NAME_MAX]; /* "XgboostFitTrainer" or a form's name */
	char data[128];               /* the training data, in words */
	char licence[64];
	char publisher[64];
	char trained_at[32]; /* ISO 8601 */
	char tool[64];       /* name and version of the program that wrote it */
};

struct trained_model {
	char name[MODEL_NAME_MAX];
	enum model_output output;
	char source[MODEL_NAME_MAX];        /* of the energy: "rapl-sysfs", "acpi" */
	char feature_group[MODEL_NAME_MAX]; /* "CounterOnly"; "" none of the known ones */
	int32_t node_type;                  /* -1 unknown */
	struct machine_spec machine;
	struct model_origin origin;
	struct model_component *components;
	size_t component_count;
};

/*
 * Reads a model in any of the formats that it recognises: our own, upstream's weights, an XGBoost
 * model of one component. @name stands for the file in messages. 0, or -EINVAL with FILE: what is
 * wrong and where, -E2BIG, -ENOMEM. A pickle or an archive is refused with what to do instead.
 */
int trained_model_parse(struct trained_model *ret, const char *name, const char *text, size_t size,
			struct diag *diag);
/*
 * Our own format: one JSON object, schema version 1; reads back to the same predictions. 0 or
 * -ENOMEM.
 */
int trained_model_write(const struct trained_model *model, struct strbuf *out);
/* Frees the model's memory; all zero afterwards. */
void trained_model_release(struct trained_model *model);

/*
 * Returns the result of a component's form for @values, one for each feature in their order and own
 * units, before it is clipped to physical values; it can be negative or not a number. Values beyond
 * the range of the training rows count as the nearest value of that range, and *outside becomes
 * true.
 */
double model_component_form_watts(const struct model_component *component, const double *values,
				  bool *outside);

/*
 * Returns true if the component has any power at the highest load of its training rows. Upstream's
 * models have parts that are always 0 (core, uncore): these were not measured, and are absent.
 */
bool model_component_draws_power(const struct model_component *component);

/*
 * Finds the reason why a model is unusable, whatever its file's syntax: negative idle power, power
 * that falls as the load grows, a value that is not finite or exceeds the power of any machine.
 * Returns 0, or -EINVAL with the component, the feature and the value.
 */
int trained_model_check(const struct trained_model *model, struct diag *diag);

#define MODEL_FALL_TREES   0.1 /* of the highest power so far: trees and neighbours */
#define MODEL_FALL_LEAST_W 0.5 /* of any form */
/*
 * W that a predictor of @form may fall below @highest_w, the highest power so far, as load grows,
 * and still be used: the part for its form, and never less than MODEL_FALL_LEAST_W.
 */
double model_fall_permitted(enum predictor_form form, double highest_w);

/* A prediction and its uncertainty. */
struct model_answer {
	double watts;   /* >= 0, finite; clipped to what is physical */
	double bound_w; /* half-width of the 90 % interval; NAN unknown */
	bool outside;   /* a feature is beyond the range of the training rows */
};

/* For each feature of a component, the column of a caller's table that has it. */
struct model_columns {
	size_t column[PREDICTOR_FEATURES_MAX];
};

/*
 * Finds the features of component @component among @names, once. 0, or -ENOENT with the first one
 * that is missing.
 */
int trained_model_bind(const struct trained_model *model, size_t component,
		       const char *const *names, size_t count, struct model_columns *ret,
		       struct diag *diag);
/* @values: one a name that was bound, in the features' own units. Allocates nothing. */
void trained_model_predict(const struct trained_model *model, size_t component,
			   const struct model_columns *columns, const double *values,
			   struct model_answer *ret);
