/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power out of the metrics of an IBM Hardware Management Console (SC27-2646, "Metrics service"): a
 * context, in JSON, says which columns the values of a group have, and each later answer is a text
 * of groups, objects and rows of values:
 *
 *     "zcpc-environmentals-and-power"      a group
 *     "/api/cpcs/2d7e…"                    an object of it
 *     1763912345250                        when it was measured: ms since 1970
 *     24.5,31,14423,…                      a row of values, or several
 *                                          (an empty line) the end of the object
 *                                          (an empty line) the end of the group
 *
 * Pure.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bmc/hmc_answer.h"

#define HMC_GROUP_POWER   "zcpc-environmentals-and-power" /* of CPCs, in both modes */
#define HMC_GROUP_CLASSIC "logical-partition-usage"
#define HMC_GROUP_DPM     "partition-usage"

struct hmc_context {
	struct hmc_path path; /* where the values are */
	/* Which column of a row of the group's is the power, in W; -1: none. */
	int cpc_column, partition_column;
};

struct hmc_sample {
	uint64_t power_uw; /* > 0 */
	uint64_t time_ms;  /* as the console has it: for nothing but to tell two samples apart */
};

/* False: it has no path. */
bool hmc_context_read(const json_t *answer, const char *partition_group, struct hmc_context *ret);
/*
 * The value in @text of @object in @group, in @column of its first row. False: no value, or 0 W,
 * which a machine reports that does not measure.
 */
bool hmc_metrics_find(const char *text, size_t len, const char *group, const char *object,
		      int column, struct hmc_sample *ret);
