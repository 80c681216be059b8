/* SPDX-License-Identifier: Apache-2.0 */
/* The output of "kepler-validator run": scenarios, the plan, progress, and the results. */
#pragma once

#include "judging/result.h"
#include "kepler-validator/checks/observation.h"

void run_text_scenarios(void);
/* Everything that is known before the run: phases, exporters, meters. */
void run_text_plan(const struct observation *observation);
/* For observation.progress: on a terminal, in place of the line before. */
void run_text_progress(const struct observation *observation, double left_s);
/* Prints the work of the loads, a line for each result, and the verdict. */
void run_text_results(const struct observation *observation, const struct result_list *list);
