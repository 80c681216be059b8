// SPDX-License-Identifier: Apache-2.0
/*
 * A name is cut into words of letters and digits. Words that all models of a series share are left
 * out, frequencies and counts of cores too; what remains, behind the name of the series, is the key.
 * tools/fit-platform-power.py makes the same keys.
 */
#include "model/cpu_name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "model/cpu_tdp.h"

#define WORD_MAX 24

static const char *const series_names[] = { "xeon", "core",    "opteron", "epyc",  "altra",
					    "atom", "celeron", "pentium", "ryzen", "athlon" };

/* Of no model alone. */
static const char *const common_words[] = { "intel",   "amd",       "ampere",   "r",     "tm",
					    "cpu",     "processor", "platinum", "gold",  "six",
					    "silver",  "bronze",    "quad",     "eight", "twelve",
					    "dual",    "max",       "dell",     "sku",   "family",
					    "genuine", "0" };

/* '#' is any digit, '*' any rest. */
static const struct segment_pattern {
	const char *pattern;
	enum cpu_segment segment;
} segment_patterns[] = {
	{ "core*", CPU_SEGMENT_SMALL },         { "xeone31*", CPU_SEGMENT_SMALL },
	{ "xeone2###*", CPU_SEGMENT_SMALL },    { "xeonx3*", CPU_SEGMENT_SMALL },
	{ "xeonl3*", CPU_SEGMENT_SMALL },       { "xeon30##", CPU_SEGMENT_SMALL },
	{ "xeone7*", CPU_SEGMENT_EXPANDED },    { "xeonx7*", CPU_SEGMENT_EXPANDED },
	{ "xeonl7*", CPU_SEGMENT_EXPANDED },    { "xeon7###*", CPU_SEGMENT_EXPANDED },
	{ "xeon83##h*", CPU_SEGMENT_EXPANDED }, { "xeon63##h", CPU_SEGMENT_EXPANDED },
	{ "xeon53##h", CPU_SEGMENT_EXPANDED },  { "opteron8###*", CPU_SEGMENT_EXPANDED },
	{ "xeone524##*", CPU_SEGMENT_ENTRY },   { "xeone514##*", CPU_SEGMENT_ENTRY },
	{ "opteron4###*", CPU_SEGMENT_ENTRY },  { "xeone546##*", CPU_SEGMENT_QUAD },
	{ "opteron6###*", CPU_SEGMENT_QUAD },   { "epyc8##4*", CPU_SEGMENT_EDGE },
	{ "xeone52##", CPU_SEGMENT_BUS },       { "xeonx52##", CPU_SEGMENT_BUS },
	{ "xeonl52##", CPU_SEGMENT_BUS },       { "xeone53##", CPU_SEGMENT_BUS },
	{ "xeonx53##", CPU_SEGMENT_BUS },       { "xeonl53##", CPU_SEGMENT_BUS },
	{ "xeone54##", CPU_SEGMENT_BUS },       { "xeonx54##", CPU_SEGMENT_BUS },
	{ "xeonl54##", CPU_SEGMENT_BUS },
};

static const char *const low_power_patterns[] = {
	"xeonl####",     "xeone5####l*",  "xeone3####l*", "opteron####he",
	"opteron####ee", "opteron####p*", "epyc8###pn",
};

static const char *const desktop_patterns[] = {
	"core*", "atom*", "celeron*", "pentium*", "ryzen*", "athlon*", "xeonn###",
};

static bool fits(const char *pattern, const char *key)
{
	for (; *pattern && *pattern != '*'; pattern++, key++) {
		if (*pattern == '#' ? !isdigit((unsigned char)*key) : *pattern != *key)
			return false;
	}
	return *pattern == '*' || !*key;
}

static bool is_among(const char *word, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(word, words[i]) == 0)
			return true;
	}
	return false;
}

/* The next word in lower case, "" at the end; '+' is part of a word, as in 8480+. */
static const char *next_word(const char *text, char ret[static WORD_MAX])
{
	size_t length = 0;

	while (*text && !isalnum((unsigned char)*text))
		text++;
	for (; isalnum((unsigned char)*text) || *text == '+'; text++) {
		if (length + 1 < WORD_MAX)
			ret[length++] = (char)tolower((unsigned char)*text);
	}
	ret[length] = '\0';
	return text;
}

/* "64" in "64-Core Processor". */
static bool counts_cores(const char *word, const char *rest)
{
	char after[WORD_MAX];

	(void)next_word(rest, after);
	return word[strspn(word, "0123456789")] == '\0' && strcmp(after, "core") == 0;
}

/* Makes @series and @model of the words; Intel's without a series are Xeons ("intel_x3350"). */
static void cut(const char *name, char series[static WORD_MAX], char model[static WORD_MAX])
{
	char word[WORD_MAX], before[WORD_MAX] = "";
	size_t length = 0;

	for (name = next_word(name, word); word[0]; name = next_word(name, word)) {
		bool is_series = is_among(word, series_names, ARRAY_SIZE(series_names));

		if (strcmp(word, "intel") == 0 && !series[0]) {
			(void)snprintf(series, WORD_MAX, "xeon");
		} else if (is_series &&
			   (strcmp(word, "core") != 0 || strcmp(before, "intel") == 0 ||
			    strcmp(before, "r") == 0)) {
			(void)snprintf(series, WORD_MAX, "%s", word);
		} else if (!is_series && !is_among(word, common_words, ARRAY_SIZE(common_words)) &&
			   !counts_cores(word, name) && length + strlen(word) < WORD_MAX) {
			memcpy(model + length, word, strlen(word) + 1);
			length += strlen(word);
		}
		(void)snprintf(before, sizeof(before), "%s", word);
	}
}

static bool fits_any(const char *const *patterns, size_t count, const char *key)
{
	for (size_t i = 0; i < count; i++) {
		if (fits(patterns[i], key))
			return true;
	}
	return false;
}

static unsigned find_tdp(const char *key)
{
	for (size_t i = 0; i < cpu_tdp_count; i++) {
		if (strcmp(cpu_tdps[i].key, key) == 0)
			return cpu_tdps[i].watts;
	}
	return 0;
}

static enum cpu_segment find_segment(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(segment_patterns); i++) {
		if (fits(segment_patterns[i].pattern, key))
			return segment_patterns[i].segment;
	}
	return CPU_SEGMENT_OTHER;
}

void cpu_name_read(const char *name, struct cpu_name *ret)
{
	char text[128], series[WORD_MAX] = "", model[WORD_MAX] = "";
	struct cpu_name known = { .segment = CPU_SEGMENT_OTHER };
	size_t length = strcspn(name, "@."); /* a frequency follows */

	if (length >= sizeof(text))
		length = sizeof(text) - 1;
	memcpy(text, name, length);
	text[length] = '\0';
	cut(text, series, model);
	if (model[0] &&
	    snprintf(known.key, sizeof(known.key), "%s%s", series, model) >= CPU_KEY_MAX)
		known.key[0] = '\0';
	if (known.key[0]) {
		known.tdp_w = find_tdp(known.key);
		known.segment = find_segment(known.key);
		known.low_power =
			fits_any(low_power_patterns, ARRAY_SIZE(low_power_patterns), known.key);
		known.desktop = fits_any(desktop_patterns, ARRAY_SIZE(desktop_patterns), known.key);
	}
	*ret = known;
}
