// SPDX-License-Identifier: Apache-2.0
#include "evidence/pages/own_rows.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

void own_rows_add(struct own_rows *own, enum energy_level level, const char *word)
{
	if (*word && own->counts[level] < OWN_WORDS_MAX)
		(void)snprintf(own->words[level][own->counts[level]++], OWN_WORD_SIZE, "%s", word);
}

static bool is_in_word(char c)
{
	return isalnum((unsigned char)c) || c == '-' || c == '_' || c == '.';
}

static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at++)
		if ((at == text || !is_in_word(at[-1])) && !is_in_word(at[len]))
			return true;
	return false;
}

size_t own_rows_find(const struct own_rows *own, enum energy_level level,
		     const struct page_series *series)
{
	for (size_t word = 0; word < own->counts[level]; word++)
		for (size_t i = 0; i < series->label_count; i++)
			if (has_word(series->label_value[i], own->words[level][word]))
				return word;
	return OWN_WORDS_MAX;
}
