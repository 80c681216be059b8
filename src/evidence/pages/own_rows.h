/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the rows of a page that contain the validator's own load: at each level, the rows with a
 * label whose value contains one of the given words. A word that is only a part of a longer one
 * does not count: the namespace "kepler" does not match "kepler-test". Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "evidence/pages/energy_metric.h"
#include "evidence/pages/page.h"

#define OWN_WORDS_MAX 4
#define OWN_WORD_SIZE 256

struct own_rows {
	char words[ENERGY_LEVELS][OWN_WORDS_MAX][OWN_WORD_SIZE];
	size_t counts[ENERGY_LEVELS];
	bool is_certain[ENERGY_LEVELS]; /* an exporter that knows the level has the load's row */
};

/* An empty word is not added, nor one beyond OWN_WORDS_MAX. */
void own_rows_add(struct own_rows *own, enum energy_level level, const char *word);
/* The first of the level's words that the row has; OWN_WORDS_MAX: none. */
size_t own_rows_find(const struct own_rows *own, enum energy_level level,
		     const struct page_series *series);
