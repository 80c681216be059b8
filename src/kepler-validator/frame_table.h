/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The energy of a frame in a pipeline, by stage: of the machine, and as the exporter charges it to
 * the processes of each stage. The machine shows the effect of all stages together; each has the
 * part of it that it has of their CPU time.
 */
#pragma once

#include "judging/result.h"
#include "trial/load_result.h"

/*
 * @names and @charged_j are of each stage. @effect_j is the machine's, for all frames of @load.
 * NULL without memory, or without a frame.
 */
struct result_table *frame_table_new(const struct load_result *load, const char *const *names,
				     const double *charged_j, double effect_j);
