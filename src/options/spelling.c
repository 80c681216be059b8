// SPDX-License-Identifier: Apache-2.0
/*
 * An error for a mistyped key should name the right one. The words are short, so the plain
 * quadratic recurrence (Boytsov 2011, "optimal string alignment") on three rows is enough.
 */
#include "options/spelling.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text/ascii.h"

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t cell(const char *a, const char *b, size_t i, size_t j,
		   size_t rows[3][SPELLING_MAX + 1])
{
	size_t *now = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
	char ca = ascii_lower(a[i - 1]), cb = ascii_lower(b[j - 1]);
	size_t best = min_size(last[j - 1] + (ca != cb), min_size(last[j], now[j - 1]) + 1);

	if (i > 1 && j > 1 && ca == ascii_lower(b[j - 2]) && cb == ascii_lower(a[i - 2]))
		best = min_size(best, before[j - 2] + 1);
	return best;
}

size_t spelling_distance(const char *a, const char *b)
{
	size_t rows[3][SPELLING_MAX + 1];
	size_t a_len = strnlen(a, SPELLING_MAX), b_len = strnlen(b, SPELLING_MAX);

	for (size_t j = 0; j <= b_len; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		rows[i % 3][0] = i;
		for (size_t j = 1; j <= b_len; j++)
			rows[i % 3][j] = cell(a, b, i, j, rows);
	}
	return rows[a_len % 3][b_len];
}

size_t spelling_tolerance(const char *text)
{
	size_t third = strnlen(text, SPELLING_MAX) / 3;

	return third ? third : 1;
}

struct spelling_nearest spelling_begin(const char *text)
{
	return (struct spelling_nearest){ .text = text, .distance = spelling_tolerance(text) + 1 };
}

void spelling_consider(struct spelling_nearest *best, const char *name, size_t len)
{
	char word[SPELLING_MAX + 1];
	size_t distance;

	len = strnlen(name, len);
	(void)snprintf(word, sizeof(word), "%.*s", (int)min_size(len, SPELLING_MAX), name);
	distance = spelling_distance(best->text, word);
	if (distance >= best->distance)
		return;
	best->distance = distance;
	best->name = name;
	best->len = len;
}

void spelling_consider_as(struct spelling_nearest *best, const char *word, const char *name)
{
	struct spelling_nearest by_word = *best;

	spelling_consider(&by_word, word, strlen(word));
	if (by_word.distance >= best->distance)
		return;
	best->distance = by_word.distance;
	best->name = name;
	best->len = strlen(name);
}
