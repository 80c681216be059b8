// SPDX-License-Identifier: Apache-2.0
#include "training/forms/neighbours.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

#define NEAREST 6

int train_neighbours(const void *plan, const struct training_task *task, struct predictor *ret,
		     struct diag *diag)
{
	size_t numbers = task->rows * task->features;
	CLEANUP_FREE double *rows = NULL;
	CLEANUP_FREE double *values = NULL;

	(void)plan;
	if (task->rows > PREDICTOR_ROWS_MAX)
		return diag_set(diag, -EINVAL, "a model of neighbours holds %d rows, not %zu",
				PREDICTOR_ROWS_MAX, task->rows);
	rows = calloc(numbers, sizeof(*rows));
	values = calloc(task->rows, sizeof(*values));
	if (!rows || !values)
		return -ENOMEM;
	memcpy(rows, task->x, numbers * sizeof(*rows));
	memcpy(values, task->y, task->rows * sizeof(*values));
	*ret = (struct predictor){ .form = PREDICTOR_NEIGHBOURS, .features = task->features };
	ret->rows.rows = TAKE_PTR(rows);
	ret->rows.values = TAKE_PTR(values);
	ret->rows.row_count = task->rows;
	ret->rows.nearest = task->rows < NEAREST ? task->rows : NEAREST;
	return 0;
}
