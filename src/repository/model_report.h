/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about a model, and how well it fits, as JSON for the API and --json. Pure. */
#pragma once

#include <jansson.h>

#include "repository/choice.h"
#include "repository/repository.h"

/*
 * {"name", "pipeline", "source", "output_type", "feature_group", "features", "trainer", "class",
 * "node_type", "machine_spec", "error", "files"}; what is unknown is left out. NULL: no memory.
 */
json_t *model_report(const struct repository *repository, const struct model_entry *entry);
/* {"kind", "looseness", "uncertainty", "expected_error_percent", "core_ratio"} */
json_t *choice_report(const struct choice *choice);
