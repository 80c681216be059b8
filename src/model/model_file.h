/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our own file of a trained model: one JSON object with "format": "kepler-model" and "version": 1
 * (docs/models.md). Numbers are written so that they read back equal; what is unknown is left out.
 * trained_model_write() is here as well. Pure.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "model/json_values.h"
#include "model/trained_model.h"

#define MODEL_FILE_FORMAT  "kepler-model"
#define MODEL_FILE_VERSION 1

bool model_file_is(const json_t *root);
/* 0, -EINVAL or -ENOMEM; @model is all zero before, and is the caller's to release in any case. */
int model_file_read(const struct json_source *source, const json_t *root,
		    struct trained_model *model);
