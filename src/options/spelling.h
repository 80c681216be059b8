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

/* The nearest of several words to a text, if any is near enough to be meant. */
struct spelling_nearest {
	const char *text;
	size_t distance;  /* less than this is nearer */
	const char *name; /* the nearest so far, or NULL */
	size_t len;       /* of it, as far as it was compared */
};

struct spelling_nearest spelling_begin(const char *text);
/* Compares the first @len bytes of @name, at most all; the first of two that are alike stays. */
void spelling_consider(struct spelling_nearest *best, const char *name, size_t len);
/* Compares with @word, which stands for @name. */
void spelling_consider_as(struct spelling_nearest *best, const char *word, const char *name);
