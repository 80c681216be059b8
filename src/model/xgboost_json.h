/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Models as XGBoost's save_model() writes them in JSON (xgboost.readthedocs.io, "Introduction to
 * Model IO", its schema), of the booster gbtree with one output. Predictions are equal to those of
 * libxgboost. Pure.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "model/json_values.h"
#include "model/predictor.h"

bool xgboost_json_is(const json_t *root);
/* 0, -EINVAL or -ENOMEM; *ret is given, predictor_release() frees it. */
int xgboost_json_read(const struct json_source *source, const json_t *root, struct predictor *ret);
/* The name of feature @index that the model carries; NULL: it carries none. */
const char *xgboost_json_feature(const json_t *root, size_t index);
