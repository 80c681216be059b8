// SPDX-License-Identifier: Apache-2.0
#include "model/processor/processor_family.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "base/macro.h"

#define WORDS_MAX 12

struct words {
	char text[WORDS_MAX][FAMILY_WORD_MAX];
	size_t count;
};

/* Words that are the name of a line, and where its model numbers have the generation. */
static const struct {
	const char *word, *vendor, *line;
	int digit; /* of four; -1: a version "v2" after them */
} lines[] = {
	{ "epyc", "amd", "epyc", 3 },         { "platinum", "intel", "scalable", 1 },
	{ "gold", "intel", "scalable", 1 },   { "silver", "intel", "scalable", 1 },
	{ "bronze", "intel", "scalable", 1 }, { "e3", "intel", "e3", -1 },
	{ "e5", "intel", "e5", -1 },          { "e7", "intel", "e7", -1 },
};

static const char *const vendors[] = { "intel", "amd",    "arm",     "ampere",
				       "ibm",   "huawei", "fujitsu", "hygon" };

static void set(char *ret, const char *text, size_t len)
{
	size_t i = 0;

	for (; i < len && i < FAMILY_WORD_MAX - 1 && text[i]; i++)
		ret[i] = text[i];
	ret[i] = '\0';
}

static void split(const char *processor, struct words *words)
{
	size_t len;

	for (words->count = 0; *processor && words->count < WORDS_MAX; processor += len) {
		processor += strspn(processor, "_- ");
		len = strcspn(processor, "_- ");
		if (len > 0 && len < FAMILY_WORD_MAX)
			set(words->text[words->count++], processor, len);
	}
}

/* The four digits of a model number such as "8380h" or "x5570"; NULL: another kind of word. */
static const char *model_number(const char *word)
{
	if (isalpha((unsigned char)word[0]))
		word++;
	return strspn(word, "0123456789") == 4 ? word : NULL;
}

/* The version of "2650v2", or 1. */
static void set_version(const char *number, char *ret)
{
	const char *version = strchr(number, 'v');

	if (version && isdigit((unsigned char)version[1]))
		set(ret, version + 1, 1);
	else
		set(ret, "1", 1);
}

/* Word @at names a known line; the words after it are its model. */
static bool read_line(const struct words *words, size_t at, struct processor_family *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		const char *number;

		if (strcmp(lines[i].word, words->text[at]) != 0)
			continue;
		set(ret->vendor, lines[i].vendor, FAMILY_WORD_MAX);
		set(ret->line, lines[i].line, FAMILY_WORD_MAX);
		number = at + 1 < words->count ? model_number(words->text[at + 1]) : NULL;
		if (number && lines[i].digit >= 0)
			set(ret->generation, number + lines[i].digit, 1);
		else if (number)
			set_version(number, ret->generation);
		return true;
	}
	return false;
}

/* Other names: the word before the model number; its first two digits are a generation. */
static void read_other(const struct words *words, size_t first, struct processor_family *ret)
{
	for (size_t i = first; i < words->count; i++) {
		const char *number = model_number(words->text[i]);

		if (!number)
			continue;
		if (i > first)
			set(ret->line, words->text[i - 1], FAMILY_WORD_MAX);
		set(ret->generation, number, 2);
		return;
	}
	if (first < words->count)
		set(ret->line, words->text[first], FAMILY_WORD_MAX);
	if (first + 1 < words->count)
		set(ret->generation, words->text[first + 1], FAMILY_WORD_MAX);
}

void processor_family_of(const char *processor, struct processor_family *ret)
{
	struct words words;
	size_t first = 0;

	memset(ret, 0, sizeof(*ret));
	split(processor, &words);
	for (size_t i = 0; i < ARRAY_SIZE(vendors) && words.count > 0; i++) {
		if (strcmp(vendors[i], words.text[0]) == 0) {
			set(ret->vendor, words.text[0], FAMILY_WORD_MAX);
			first = 1;
		}
	}
	for (size_t i = first; i < words.count; i++) {
		if (read_line(&words, i, ret))
			return;
	}
	read_other(&words, first, ret);
}

bool processor_family_same_line(const struct processor_family *a, const struct processor_family *b)
{
	return a->vendor[0] && a->line[0] && strcmp(a->vendor, b->vendor) == 0 &&
	       strcmp(a->line, b->line) == 0;
}

bool processor_family_same(const struct processor_family *a, const struct processor_family *b)
{
	return processor_family_same_line(a, b) && a->generation[0] &&
	       strcmp(a->generation, b->generation) == 0;
}
