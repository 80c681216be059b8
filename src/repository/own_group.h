/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name of the group of a model whose features are no group of upstream's (model/feature.h). A
 * repository has a folder for each group, so each set of features needs a name: "own." and the
 * features in alphabetical order, joined by "-". Where that is longer than a folder's name may be
 * here, or a feature's name has other characters than letters, digits, "." and "_", it is "own.",
 * the number of features, and a hash of their names. The same features always give the same name.
 * Pure.
 */
#pragma once

#include <stddef.h>

#include "model/trained_model.h"
#include "repository/model_entry.h"

#define OWN_GROUP_FEATURES_MAX 64

/*
 * All features of @model's components, each once, in alphabetical order; how many. Borrowed from
 * @model. More than OWN_GROUP_FEATURES_MAX are cut.
 */
size_t own_group_features(const struct trained_model *model,
			  const char *ret[OWN_GROUP_FEATURES_MAX]);
/* The model's own feature_group; one of upstream's with the same features; or a name as above. */
void own_group_name(const struct trained_model *model, char ret[ENTRY_NAME_MAX]);
