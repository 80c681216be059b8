/* SPDX-License-Identifier: Apache-2.0 */
/* How far apart are two words? For "did you mean …?". */
#pragma once

#include <stddef.h>

#define SPELLING_MAX 64 /* longer words are compared up to here */

/*
 * Damerau–Levenshtein distance (optimal string alignment): insertions, deletions, substitutions and
 * swaps of neighbours that turn @a into @b, without regard to case.
 */
size_t spelling_distance(const char *a, const char *b);
/*
 * The greatest distance at which @text may still be meant as another word: a third of its length,
 * at least 1.
 */
size_t spelling_tolerance(const char *text);
