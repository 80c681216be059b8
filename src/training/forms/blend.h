/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random trees, alone or as the mean with boosted trees, as one set of trees. The mean is about as
 * accurate as random trees alone, and smoother.
 *
 * Rows in which nothing runs are added: otherwise idle power would be the power of the row with
 * the least load.
 */
#pragma once

#include "base/diag.h"
#include "model/predictor.h"
#include "training/forms/boosting.h"
#include "training/forms/forest.h"
#include "training/task.h"

struct blend {
	struct forest_plan forest;
	const struct boosting *boosting; /* NULL: random trees alone, else half and half */
	/*
	 * Trees also see the ratios of the task: at the same load a machine draws more at a higher
	 * frequency, which no feature alone shows. Once frequency is known, power hardly falls as
	 * load grows.
	 */
	bool with_ratios;
	/* Rows have the power of a load that lasts (steady_rows.h). */
	bool is_steady;
	/* If is_steady: trees see only the load. On few rows other features fit by chance. */
	bool only_load;
};

/* A trainer (trainer.h), with a struct blend. */
int train_blend(const void *plan, const struct training_task *task, struct predictor *ret,
		struct diag *diag);
