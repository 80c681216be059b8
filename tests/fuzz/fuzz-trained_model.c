// SPDX-License-Identifier: Apache-2.0
/*
 * A model's file in any format. A model that is read can be checked, evaluated anywhere with
 * physical answers, and written; the written file can be read and gives the same answers. Prepared
 * trees have the same leaves as walked ones, and their answers are physical as well.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "model/trained_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const double points[] = { 0, 0.5, 1, 1000, 1e12, -1, 1e308, (double)NAN, (double)INFINITY };

static void evaluate(const struct trained_model *model, size_t component, double *watts)
{
	struct model_columns columns;
	double values[PREDICTOR_FEATURES_MAX];
	struct model_answer answer;

	for (size_t i = 0; i < PREDICTOR_FEATURES_MAX; i++)
		columns.column[i] = i;
	for (size_t p = 0; p < ARRAY_SIZE(points); p++) {
		for (size_t i = 0; i < PREDICTOR_FEATURES_MAX; i++)
			values[i] = points[(p + i) % ARRAY_SIZE(points)];
		trained_model_predict(model, component, &columns, values, &answer);
		if (!(answer.watts >= 0) || !isfinite(answer.watts) || answer.bound_w < 0)
			abort();
		watts[p] = answer.watts;
	}
}

static void compare(const struct trained_model *model, const struct trained_model *again)
{
	double before[ARRAY_SIZE(points)], after[ARRAY_SIZE(points)];

	if (model->component_count != again->component_count)
		abort();
	for (size_t i = 0; i < model->component_count; i++) {
		evaluate(model, i, before);
		evaluate(again, i, after);
		if (memcmp(before, after, sizeof(before)) != 0)
			abort();
	}
}

static void write_and_read(const struct trained_model *model)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	struct trained_model again;
	struct diag diag = { "" };

	if (trained_model_write(model, &text) < 0 || text.len > MODEL_FILE_MAX)
		return;
	/* An empty name, as XGBoost's may be, is not valid in our own format. */
	if (trained_model_parse(&again, "again", text.data, text.len, &diag) < 0) {
		if (!strstr(diag.text, "\"name\" is missing") &&
		    !strstr(diag.text, "control character"))
			abort();
		return;
	}
	compare(model, &again);
	trained_model_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trained_model model;
	struct diag diag = { "" };

	if (trained_model_parse(&model, "SGDRegressorTrainer_1.json", (const char *)data, size,
				&diag) < 0) {
		if (!diag.text[0])
			abort();
		return 0;
	}
	(void)trained_model_check(&model, &diag);
	write_and_read(&model);
	trained_model_release(&model);
	return 0;
}
