/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several runs of one command: their mean as one result, the deviation of their energy and time,
 * and the comparison with runs that were saved before. Pure.
 */
#pragma once

#include "base/diag.h"
#include "stat/run_series.h"
#include "stat/stat_phases.h"
#include "stat/stat_text.h"

/* Zeroed: none. */
struct stat_runs {
	size_t count, room;
	double *joules, *seconds, *cpu_seconds;
	int *statuses;
	struct stat_result mean;
	const struct stat_phases *phases; /* of a single run, borrowed; or NULL */
};

/* Adds a run: 0 or -ENOMEM. Texts of the first result, such as its command, are borrowed. */
int stat_runs_add(struct stat_runs *runs, const struct stat_result *result);
void stat_runs_release(struct stat_runs *runs);

/* The energy of each of the runs that --save wrote. */
struct stat_baseline {
	const char *name; /* of the file, borrowed; NULL: there is none */
	double *joules;   /* [count], owned */
	size_t count;
};

/* 0; -EINVAL with a diagnosis: the text is not a result of kepler stat; or -ENOMEM. */
int stat_baseline_parse(const char *text, size_t len, struct stat_baseline *ret, struct diag *diag);

/* Each with the mean result; the runs themselves are described if there are several. */
int stat_runs_text(const struct stat_runs *runs, const struct stat_baseline *baseline,
		   struct strbuf *out);
int stat_runs_json(const struct stat_runs *runs, const struct stat_baseline *baseline,
		   struct strbuf *out);
int stat_runs_markdown(const struct stat_runs *runs, const struct stat_baseline *baseline,
		       struct strbuf *out);
