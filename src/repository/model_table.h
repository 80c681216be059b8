/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pipeline's table of models, SOURCE_OUTPUT_model_metadata.csv: a row a model, as pandas writes
 * it. Each row becomes the object that the model's metadata.json would be: numbers are numbers, and
 * lists of names, which the file has in Python's notation, are arrays. Pure.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "base/diag.h"

#define MODEL_TABLE_MAX  (16U << 20) /* bytes */
#define MODEL_TABLE_ROWS 100000

/* Called for each row; not 0 ends the reading, which then returns it. */
typedef int model_table_row(void *userdata, const json_t *row);

/* 0, or -EINVAL with FILE:LINE and the fault; -ENOMEM; or the result of @take. */
int model_table_read(const char *name, const char *text, size_t size, model_table_row *take,
		     void *userdata, struct diag *diag);
