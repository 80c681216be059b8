/* SPDX-License-Identifier: Apache-2.0 */
/* Recent means of features (model/recent_mean.h) as columns of rows, which have a "timestamp". */
#pragma once

#include "base/diag.h"
#include "model/trained_model.h"
#include "samples/sample_table.h"

/*
 * Adds the column @name, a recent mean of another column, computed in the order of the rows. Where
 * their time goes back, as at the first row of the next file, the mean begins again. 0, also if the
 * column exists; with a diagnosis -EINVAL: @name is not a recent mean's, -ENOENT: its feature or
 * the time has no column, -ENOSPC; -ENOMEM.
 */
int recent_columns_add(struct sample_table *table, const char *name, struct diag *diag);
/* Adds the recent means that @model needs and whose features @table has: 0, -ENOSPC or -ENOMEM. */
int recent_columns_add_of_model(struct sample_table *table, const struct trained_model *model,
				struct diag *diag);
