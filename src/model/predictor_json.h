/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The member "predictor" of a component in our own file of a model (model_file.h): its form and the
 * form's numbers. Pure.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "model/json_values.h"
#include "model/json_writer.h"
#include "model/predictor.h"

/*
 * Reads the predictor of @component, which has @features and is at @component_place in the file. 0,
 * -EINVAL or -ENOMEM; *predictor is overwritten, and released by the caller in any case.
 */
int predictor_json_read(const struct json_source *source, const json_t *component,
			const char *component_place, size_t features, struct predictor *predictor);
void predictor_json_write(struct json_writer *writer, const struct predictor *predictor);
