/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the series in a file is meant: one, by words of its name; the others are listed. */
#pragma once

#include <stdbool.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "evidence/series_form.h"
#include "judging/series.h"

struct series_pick {
	const char *path;  /* as the user gave it, for messages */
	const char *words; /* NULL: any, but there is only one */
	enum series_kind kind;
	struct series *series; /* the one that fits; owned */
	struct series_form form;
	size_t fits;
	size_t seen;
	struct strbuf names; /* of all, or of those that fit, for messages */
};

/*
 * Begins a series. Returns true if it is the chosen one: its samples then go to @pick->series.
 * @query is "" if the file does not name a query. Further series that match are only counted.
 * -ENOMEM.
 */
int series_pick_begin(struct series_pick *pick, const char *name, const char *query);
/* Hands over the series, finished; or -errno with a diagnosis. */
int series_pick_end(struct series_pick *pick, struct series **ret, struct diag *diag);
void series_pick_release(struct series_pick *pick);
