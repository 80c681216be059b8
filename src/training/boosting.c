// SPDX-License-Identifier: Apache-2.0
#include "training/boosting.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xgboost/c_api.h>

#include "base/macro.h"
#include "base/strbuf.h"
#include "model/xgboost_json.h"

struct parameter {
	const char *name, *value;
};

struct boosting {
	const struct parameter *parameters; /* a NULL name ends them */
	int trees;
	bool from_mean; /* the first prediction is the mean, otherwise 0.5 W */
	bool monotone;
};

static int failed(struct diag *diag, const char *what)
{
	return diag_set(diag, -EINVAL, "libxgboost: %s: %.300s", what, XGBGetLastError());
}

static void be_silent(const char *text)
{
	(void)text;
}

/* "(1,0,1)": 1 is a feature that power must not fall with. */
static void add_constraints(const struct training_task *task, struct strbuf *out)
{
	for (size_t i = 0; i < task->features; i++)
		strbuf_addf(out, "%s%d", i ? "," : "(", task->is_load && task->is_load[i] ? 1 : 0);
	strbuf_add_char(out, ')');
}

static int set_parameters(BoosterHandle booster, const struct boosting *boosting,
			  const struct training_task *task, struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf constraints = STRBUF_INIT;
	char base[64], seed[32];
	double mean = 0;
	const struct parameter *p = boosting->parameters;
	int r = XGBoosterSetParam(booster, "nthread", "1");

	for (size_t i = 0; i < task->rows; i++)
		mean += task->y[i] / (double)task->rows;
	(void)snprintf(base, sizeof(base), "%.9g", boosting->from_mean ? mean : 0.5);
	(void)snprintf(seed, sizeof(seed), "%u", (unsigned)(task->seed & INT32_MAX));
	for (; r == 0 && p->name; p++)
		r = XGBoosterSetParam(booster, p->name, p->value);
	if (r == 0)
		r = XGBoosterSetParam(booster, "base_score", base);
	if (r == 0)
		r = XGBoosterSetParam(booster, "seed", seed);
	add_constraints(task, &constraints);
	if (strbuf_error(&constraints) < 0)
		return -ENOMEM;
	if (r == 0 && boosting->monotone)
		r = XGBoosterSetParam(booster, "monotone_constraints", constraints.data);
	return r == 0 ? 0 : failed(diag, "parameters");
}

static int boost(BoosterHandle booster, DMatrixHandle matrix, const struct boosting *boosting,
		 const struct training_task *task, struct diag *diag)
{
	int r = set_parameters(booster, boosting, task, diag);

	for (int tree = 0; r == 0 && tree < boosting->trees; tree++) {
		if (XGBoosterUpdateOneIter(booster, tree, matrix) != 0)
			r = failed(diag, "training");
	}
	return r;
}

static int new_matrix(const struct training_task *task, DMatrixHandle *ret, struct diag *diag)
{
	size_t count = task->rows * task->features;
	CLEANUP_FREE float *numbers = calloc(count + task->rows, sizeof(*numbers));
	float *y;

	if (!numbers)
		return -ENOMEM;
	y = numbers + count;
	for (size_t i = 0; i < count; i++)
		numbers[i] = (float)task->x[i];
	for (size_t i = 0; i < task->rows; i++)
		y[i] = (float)task->y[i];
	if (XGDMatrixCreateFromMat(numbers, task->rows, task->features, __builtin_nanf(""), ret) !=
	    0)
		return failed(diag, "rows");
	if (XGDMatrixSetFloatInfo(*ret, "label", y, task->rows) != 0) {
		(void)XGDMatrixFree(*ret);
		return failed(diag, "watts");
	}
	return 0;
}

static int take_trees(BoosterHandle booster, struct predictor *ret, struct diag *diag)
{
	struct json_source source = { .file = "libxgboost", .diag = diag };
	const char *text;
	bst_ulong len;
	json_t *model;
	int r;

	if (XGBoosterSaveModelToBuffer(booster, "{\"format\":\"json\"}", &len, &text) != 0)
		return failed(diag, "model");
	model = json_loadb(text, len, 0, NULL);
	r = model ? xgboost_json_read(&source, model, ret) : -ENOMEM;
	json_decref(model);
	return r;
}

static int train(const struct training_task *task, const struct boosting *boosting,
		 struct predictor *ret, struct diag *diag)
{
	DMatrixHandle matrix;
	BoosterHandle booster;
	int r;

	(void)XGBRegisterLogCallback(be_silent);
	r = new_matrix(task, &matrix, diag);
	if (r < 0)
		return r;
	if (XGBoosterCreate(&matrix, 1, &booster) != 0) {
		(void)XGDMatrixFree(matrix);
		return failed(diag, "start");
	}
	r = boost(booster, matrix, boosting, task, diag);
	if (r == 0)
		r = take_trees(booster, ret, diag);
	(void)XGBoosterFree(booster);
	(void)XGDMatrixFree(matrix);
	return r;
}

int train_xgboost(const struct training_task *task, double *stretch, struct predictor *ret,
		  struct diag *diag)
{
	static const struct parameter parameters[] = {
		{ "objective", "reg:squarederror" }, { "eta", "0.1" }, { "max_depth", "6" },
		{ "tree_method", "exact" },          { NULL, NULL },
	};
	static const struct boosting boosting = { .parameters = parameters, .trees = 100 };

	(void)stretch;
	return train(task, &boosting, ret, diag);
}

int train_gradient_boosting(const struct training_task *task, double *stretch,
			    struct predictor *ret, struct diag *diag)
{
	static const struct parameter parameters[] = {
		{ "objective", "reg:squarederror" },
		{ "eta", "0.1" },
		{ "max_depth", "3" },
		{ "lambda", "0" },
		{ "tree_method", "exact" },
		{ NULL, NULL },
	};
	static const struct boosting boosting = { .parameters = parameters,
						  .trees = 100,
						  .from_mean = true };

	(void)stretch;
	return train(task, &boosting, ret, diag);
}

int train_monotone_boosting(const struct training_task *task, double *stretch,
			    struct predictor *ret, struct diag *diag)
{
	static const struct parameter parameters[] = {
		{ "objective", "reg:squarederror" },
		{ "eta", "0.1" },
		{ "max_depth", "6" },
		{ "subsample", "0.8" },
		{ "tree_method", "exact" },
		{ NULL, NULL },
	};
	static const struct boosting boosting = {
		.parameters = parameters, .trees = 200, .from_mean = true, .monotone = true
	};

	(void)stretch;
	return train(task, &boosting, ret, diag);
}
