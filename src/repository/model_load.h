/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model of a repository, read so that it can predict: its weights, a file of our own format, or
 * the XGBoost trees in its archive.
 *
 * Upstream divides features by a scale before trees see them, and keeps that scale in a pickle,
 * which is never loaded. But all trainers of one pipeline, group and node type divide by the same
 * scale, the highest value of their common rows, and a model with weights has it in plain text. So
 * trees are used if such a model is next to them, and refused with the reason otherwise.
 */
#pragma once

#include "base/diag.h"
#include "model/trained_model.h"
#include "repository/repository.h"

/*
 * 0; -EINVAL: it cannot be used, with why and what to do; -errno: it cannot be read. *ret is given,
 * trained_model_release() frees it; it has passed trained_model_check().
 */
int model_load(const struct repository *repository, const struct model_entry *entry,
	       struct trained_model *ret, struct diag *diag);
