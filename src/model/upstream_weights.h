/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The weight files of upstream's model server: components by name, each with "All_Weights". Linear
 * ones have a bias and weights by feature; curves have "CurveFit_Weights" of the one feature that
 * feature_main() names; "XGboost_Weights" is a model of XGBoost in base64. A feature's values are
 * divided by its "scale", the highest value of the training rows, which is taken as its range.
 *
 * Files of version 0.6 were trained on values from which the mean had been subtracted, and have 0 in
 * its place: their predictions are off by an unknown constant, so they are refused.
 *
 * Weights do not state whether they predict the whole power or the dynamic power. They are DynPower
 * if the file has "output_type": "DynPower", or is in a folder of that name, as in upstream's
 * repositories. Pure.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "model/json_values.h"
#include "model/trained_model.h"

bool upstream_weights_are(const json_t *root);
/*
 * The file's name stands for "model_name" where that is missing: it says which curve the weights are
 * of. 0, -EINVAL or -ENOMEM; @model is all zero before, and is the caller's to release in any case.
 */
int upstream_weights_read(const struct json_source *source, const json_t *root,
			  struct trained_model *model);
