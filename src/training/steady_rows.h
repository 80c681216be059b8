/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows with the power of a load that lasts.
 *
 * A row is an interval in which load may begin or end, and its power then belongs to neither: one
 * with a busy CPU for half of the time draws less than one in which half as many are busy all the
 * time, and the meter is not read in the same moment as the counters. Trees follow such rows, so
 * that what they make falls as load grows. Where load lasts power does not fall.
 *
 * So there is a curve that rises with load and whose rows lie below it by no more than STEADY_PART
 * of what a model of trees may fall (trained_model.h), as far as a curve can have that: the sum of
 * the watts by which it is too low, or too high, is as small as possible. That is an isotonic
 * regression whose loss is 0 between two ends, found by pooling adjacent violators (Barlow et al.,
 * "Statistical Inference under Order Restrictions", 1972): the value of a pool is the median of the
 * ends of its rows. A median, because such rows are few and far off. Each row's power is then
 * brought between the curve and what a model may fall below it.
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

/* W of each row of @task, in its order, into @ret [rows]: 0 or -ENOMEM. */
int steady_rows_watts(const struct training_task *task, double *ret);
