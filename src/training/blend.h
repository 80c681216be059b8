/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mean of random trees and of boosted ones that never fall with load, as one set of trees. It
 * is about as accurate as random trees alone, and along the load it falls half as far where they
 * do. So that idle power is not that of whatever row has the least load, rows are added in which
 * nothing runs.
 */
#pragma once

#include "base/diag.h"
#include "model/predictor.h"
#include "training/task.h"

int train_blended_trees(const struct training_task *task, double *stretch, struct predictor *ret,
			struct diag *diag);
/*
 * Random trees that also see the ratios of the task: at the same load a machine draws more at a
 * higher frequency, and of that no feature alone says anything. With the same added rows.
 */
int train_ratio_trees(const struct training_task *task, double *stretch, struct predictor *ret,
		      struct diag *diag);
/*
 * The mean of these and of boosted trees that see ratios, too, and are smoother. Once frequency is
 * known power hardly falls along the load, so that they need not be held to rise.
 */
int train_ratio_blend(const struct training_task *task, double *stretch, struct predictor *ret,
		      struct diag *diag);
/*
 * As train_ratio_trees(), of the power that each row has while its load lasts (steady_rows.h): what
 * rows in which load begins or ends have drawn makes no power that falls.
 */
int train_steady_trees(const struct training_task *task, double *stretch, struct predictor *ret,
		       struct diag *diag);
/*
 * The same of trees that see only the load along which that power rises. On few rows other features
 * tell them apart by chance.
 */
int train_steady_curve(const struct training_task *task, double *stretch, struct predictor *ret,
		       struct diag *diag);
