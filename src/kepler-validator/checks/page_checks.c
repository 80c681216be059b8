// SPDX-License-Identifier: Apache-2.0
#include "kepler-validator/checks/page_checks.h"

#include <errno.h>
#include <math.h>

#include "base/macro.h"

static int check_updates(const struct checking *checking)
{
	const struct exporter *exporter = checking->exporter;
	struct result *result =
		checking_begin(checking, RESULT_CORRECTNESS, "correctness", "updates");

	if (!result)
		return -ENOMEM;
	result->threshold.max_error = 0; /* it must hold exactly */
	result->threshold.max_lag_s = checking->bounds->max_lag_s;
	if (exporter->pages < 2)
		result_set_verdict(result, VERDICT_INCONCLUSIVE, "There was only one page.");
	else if (exporter->still_s <= checking->bounds->max_lag_s)
		result_set_verdict(result, VERDICT_PASS,
				   "The numbers were the same for at most %.1f s.",
				   exporter->still_s);
	else
		result_set_verdict(result, VERDICT_FAIL,
				   "The exporter answered, but its numbers stood still for %.1f s "
				   "(bound %g s).",
				   exporter->still_s, checking->bounds->max_lag_s);
	return result_list_add(checking->results, result);
}

/* A machine always has processes; containers and VMs may all end. */
static bool is_always_there(enum energy_level level)
{
	return level == ENERGY_NODE || level == ENERGY_PROCESS;
}

static struct exporter_fault find_gone(const struct checking *checking)
{
	const struct exporter *exporter = checking->exporter;
	struct exporter_fault gone = { 0 };

	for (size_t i = 0; i < exporter->zone_count; i++)
		for (enum energy_level level = 0; level < ENERGY_LEVELS; level++) {
			const struct exporter_sum *sum = &exporter->zones[i].sums[level];
			double since_s = exporter->page_s - sum->gone_s;

			if (is_always_there(level) && sum->was_there &&
			    since_s > checking->bounds->max_lag_s)
				exporter_fault_note(
					&gone, "level %s of zone %s is missing since %.0f s",
					energy_level_name(level), exporter->zones[i].name, since_s);
		}
	return gone;
}

static bool shows_level(const struct exporter *exporter, enum energy_level level)
{
	for (size_t i = 0; i < exporter->zone_count; i++)
		if (exporter->zones[i].sums[level].was_there)
			return true;
	return false;
}

/* Levels and zones that have vanished, and levels that the user requires. */
static int check_levels(const struct checking *checking)
{
	const struct exporter *exporter = checking->exporter;
	struct exporter_fault gone = find_gone(checking);
	uint64_t levels = 0;

	for (enum energy_level level = 0; level < ENERGY_LEVELS; level++) {
		bool is_shown = shows_level(exporter, level);
		bool is_required = checking->bounds->required_levels & (1U << level);

		levels += is_shown || is_required;
		if (is_required && !is_shown)
			exporter_fault_note(&gone, "level %s was never there",
					    energy_level_name(level));
	}
	return checking_fault(checking, RESULT_CORRECTNESS, "levels", &gone, levels,
			      "Levels that are missing");
}

static int check_processes(const struct checking *checking)
{
	const struct process_rows *rows = &checking->exporter->processes;
	bool is_judged = process_rows_are_ours(rows);
	const struct exporter_fault none = { 0 };
	int r = checking_fault(checking, RESULT_CORRECTNESS, "dead-processes",
			       is_judged ? &rows->dead : &none, is_judged ? rows->gauges : 0,
			       "Gauges of processes that ended long ago");

	return r < 0 ? r
		     : checking_fault(checking, RESULT_CORRECTNESS, "process-names",
				      is_judged ? &rows->renamed : &none,
				      is_judged ? rows->rows : 0,
				      "Rows of processes that have another name");
}

int check_pages(const struct checking *checking)
{
	const struct exporter *exporter = checking->exporter;
	int r = check_updates(checking);

	if (r == 0)
		r = check_levels(checking);
	if (r == 0)
		r = checking_fault(checking, RESULT_CORRECTNESS, "descriptions",
				   &exporter->help.copied, exporter->help.checked,
				   "Energy or power with the description of another metric");
	if (r == 0)
		r = checking_fault(checking, RESULT_CORRECTNESS, "cpu-limit", &exporter->excess,
				   exporter->cpu_rows_checked,
				   "Rows with more CPU time than all CPUs have");
	return r < 0 ? r : check_processes(checking);
}
