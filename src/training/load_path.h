/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The path along which a model is tried (trained_model_check()): all features of load grow
 * together, from nothing to the highest of the rows, while the others stand low, in the middle and
 * high. Few rows are near it, and there trees give the power of the nearest rows, in steps up and
 * down. But power is known not to fall along it. So rows can be added there, with the power that a
 * first predictor gives, made to rise by isotonic regression (pool adjacent violators: Barlow et
 * al., "Statistical Inference under Order Restrictions", 1972).
 */
#pragma once

#include <stddef.h>

#include "model/predictor.h"
#include "training/task.h"

#define LOAD_PATH_STEPS    50
#define LOAD_PATH_SETTINGS 3
#define LOAD_PATH_ROWS     ((size_t)LOAD_PATH_STEPS * LOAD_PATH_SETTINGS)

/*
 * The largest fall of @predictor along the path, relative to the permitted one
 * (model_fall_permitted()): above 1, it cannot be used. @task has its rows.
 */
double load_path_fall(const struct training_task *task, const struct predictor *predictor);
/*
 * Rows of the path and their power, into @x [LOAD_PATH_ROWS × task->features] and
 * @y [LOAD_PATH_ROWS]; how many there are: a third where all features are of load.
 */
size_t load_path_rows(const struct training_task *task, const struct predictor *predictor,
		      double *x, double *y);
