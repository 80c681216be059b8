/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows with the power of a load that lasts.
 *
 * A row is an interval, and load may begin or end in it. CPUs that are busy for half of it draw
 * less than half as many that are busy all the time, and the meter is not read in the same moment
 * as the counters. Trees follow such rows, so that their predictions fall as load grows. The power
 * of a lasting load does not fall.
 *
 * So a curve that rises with load is fitted, and each row's power is moved to at most the curve,
 * and to at least the curve less STEADY_PART of the fall that a model of trees may have
 * (trained_model.h). The curve moves the rows by the fewest watts in sum: an isotonic regression,
 * found by pooling adjacent violators (Barlow et al., "Statistical Inference under Order
 * Restrictions", 1972). A pool's value is a weighted median of the powers at which its rows begin
 * to be moved; a median, because rows in which load begins or ends are few and far off.
 *
 * The load is the one of the features that grow with it along which the sum is the smallest.
 */
#pragma once

#include "training/task.h"

#define STEADY_PART 0.9
/*
 * Steps of the curve at most: of more rows the ones that follow each other by load have one value.
 */
#define STEADY_STEPS 256

/*
 * W of each row of @task, in its order, into @ret [rows], and the feature that is the load into
 * @ret_load: 0 or -ENOMEM.
 */
int steady_rows_watts(const struct training_task *task, double *ret, size_t *ret_load);
