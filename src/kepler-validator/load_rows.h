/* SPDX-License-Identifier: Apache-2.0 */
/* By which words exporters show the validator's own load. */
#pragma once

#include "evidence/pages/own_rows.h"
#include "trial/load_cgroup.h"
#include "trial/own_container.h"

/* The word of a pipeline's first stage, at the level of processes. */
#define LOAD_ROWS_STAGE 1

/*
 * The load is in @cgroup, if it could be made, and in @container, where this program is, as well:
 * which of the two owns it is the exporter's choice.
 */
void load_rows_find(const struct load_cgroup *cgroup, const struct own_container *container,
		    struct own_rows *ret);
