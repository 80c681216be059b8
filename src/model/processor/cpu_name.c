// SPDX-License-Identifier: Apache-2.0
/*
 * A name is cut into words of letters and digits. Words that all models of a series share are left
 * out, and so are frequencies and counts of cores. The key is the series and the remaining words.
 * Names of AMD's CPUs count their cores, Ampere's have them in the model, and for Intel's there is
 * a table.
 */
#include "model/processor/cpu_name.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/num.h"
#include "base/text/ascii.h"
#include "model/processor/cpu_cores.h"
#include "model/processor/cpu_tdp.h"

#define WORD_MAX  24
#define CORES_MAX 1024 /* of one package; larger numbers in a name are not cores */

static const char *const series_names[] = { "xeon", "core",    "opteron", "epyc",  "altra",
					    "atom", "celeron", "pentium", "ryzen", "athlon" };

/* Words that do not identify a model alone. */
static const char *const common_words[] = { "intel",   "amd",       "ampere",   "r",     "tm",
					    "cpu",     "processor", "platinum", "gold",  "six",
					    "silver",  "bronze",    "quad",     "eight", "twelve",
					    "dual",    "max",       "dell",     "sku",   "family",
					    "genuine", "0" };

/* '#' is any digit, '*' any text. The first row that fits is taken. */
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

/* Years of families; the same classes as host/microarchitecture.c has by their numbers. */
static const struct year_pattern {
	const char *pattern;
	unsigned year;
} year_patterns[] = {
	{ "epyc97##*", 2023 },     { "epyc8##4*", 2023 },     { "epyc9##4*", 2022 },
	{ "epyc9##5*", 2024 },     { "epyc7##3*", 2021 },     { "epyc7#f3", 2021 },
	{ "epyc7##2*", 2019 },     { "epyc7f#2", 2019 },      { "epyc7h12", 2019 },
	{ "epyc7##1*", 2017 },     { "altra*", 2020 },        { "opteron63##*", 2012 },
	{ "opteron43##*", 2012 },  { "opteron62##*", 2011 },  { "opteron42##*", 2011 },
	{ "opteron61##*", 2010 },  { "opteron41##*", 2010 },  { "opteron24##*", 2009 },
	{ "opteron84##*", 2009 },  { "opteron23##*", 2008 },  { "opteron83##*", 2008 },
	{ "opteron22##*", 2005 },  { "opteron82##*", 2005 },  { "xeon5110", 2006 },
	{ "xeon5130", 2006 },      { "xeon5140", 2006 },      { "xeon5148", 2006 },
	{ "xeon5150", 2006 },      { "xeon5160", 2006 },      { "xeon85##*", 2023 },
	{ "xeon65##*", 2023 },     { "xeon55##*", 2023 },     { "xeon45##*", 2023 },
	{ "xeon84##*", 2023 },     { "xeon64##*", 2023 },     { "xeon54##*", 2023 },
	{ "xeon44##*", 2023 },     { "xeon83##h*", 2020 },    { "xeon63##h", 2020 },
	{ "xeon53##h", 2020 },     { "xeon83##*", 2021 },     { "xeon63##*", 2021 },
	{ "xeon53##*", 2021 },     { "xeon43##*", 2021 },     { "xeon92##*", 2019 },
	{ "xeon82##*", 2019 },     { "xeon62##*", 2019 },     { "xeon52##*", 2019 },
	{ "xeon42##*", 2019 },     { "xeon32##*", 2019 },     { "xeon81##*", 2017 },
	{ "xeon61##*", 2017 },     { "xeon51##*", 2017 },     { "xeon41##*", 2017 },
	{ "xeon31##*", 2017 },     { "xeond27##*", 2021 },    { "xeond17##*", 2021 },
	{ "xeond21##*", 2017 },    { "xeond15##*", 2016 },    { "xeone23##*", 2021 },
	{ "xeone22##*", 2018 },    { "xeone21##*", 2018 },    { "xeone3####*v6", 2017 },
	{ "xeone3####*v5", 2015 }, { "xeone#####*v4", 2016 }, { "xeone#####*v3", 2014 },
	{ "xeone#####*v2", 2013 }, { "xeone31###*", 2012 },   { "xeone5####*", 2012 },
	{ "xeone7####*", 2010 },   { "xeone56##", 2010 },     { "xeonx56##", 2010 },
	{ "xeonl56##", 2010 },     { "corei35##", 2010 },     { "corei76##e", 2010 },
	{ "corei7e6##", 2010 },    { "xeonx34##", 2009 },     { "xeonl34##", 2009 },
	{ "xeone55##", 2009 },     { "xeonx55##", 2009 },     { "xeonl55##", 2009 },
	{ "xeonw55##", 2009 },     { "xeone75##", 2009 },     { "xeonx75##", 2009 },
	{ "xeonl75##", 2009 },     { "xeone54##", 2007 },     { "xeonx54##", 2007 },
	{ "xeonl54##", 2007 },     { "xeone52##", 2007 },     { "xeonx52##", 2007 },
	{ "xeonl52##", 2007 },     { "xeonx33##", 2007 },     { "xeonl33##", 2007 },
	{ "xeone31##", 2007 },     { "xeonl31##", 2007 },     { "xeone74##", 2007 },
	{ "xeonx74##", 2007 },     { "xeonl74##", 2007 },     { "xeone53##", 2006 },
	{ "xeonx53##", 2006 },     { "xeonl53##", 2006 },     { "xeonx32##", 2006 },
	{ "xeon30##", 2006 },      { "xeone73##", 2006 },     { "xeonx73##", 2006 },
	{ "xeonl73##", 2006 },     { "xeon7###*", 2005 },
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
	const char *rest = NULL, *rest_key = NULL; /* after the last '*', and where it began */

	for (;;) {
		if (*pattern == '*') {
			rest = ++pattern;
			rest_key = key;
		} else if (!*key && !*pattern) {
			return true;
		} else if (*pattern &&
			   (*pattern == '#' ? isdigit((unsigned char)*key) : *pattern == *key)) {
			pattern++;
			key++;
		} else if (rest && *rest_key) {
			pattern = rest;
			key = ++rest_key;
		} else {
			return false;
		}
	}
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

	while (*text && !ascii_is_alnum(*text))
		text++;
	for (; ascii_is_alnum(*text) || *text == '+'; text++) {
		if (length + 1 < WORD_MAX)
			ret[length++] = ascii_lower(*text);
	}
	ret[length] = '\0';
	return text;
}

/* "64" in "64-Core Processor", "Quad" in "Quad-Core": @word is a number of cores. */
static bool counts_cores(const char *word, const char *rest, unsigned *ret_cores)
{
	static const struct {
		const char *word;
		unsigned cores;
	} words[] = {
		{ "dual", 2 }, { "quad", 4 }, { "six", 6 }, { "eight", 8 }, { "twelve", 12 }
	};
	char after[WORD_MAX];
	uint64_t cores;

	(void)next_word(rest, after);
	if (strcmp(after, "core") != 0)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(words[i].word, word) == 0) {
			*ret_cores = words[i].cores;
			return true;
		}
	}
	if (parse_u64(word, strlen(word), &cores) < 0)
		return false;
	*ret_cores = cores <= CORES_MAX ? (unsigned)cores : 0;
	return true;
}

/*
 * Makes @series and @model of the words, and @ret_cores of the one that counts them; Intel's
 * without a series are Xeons ("intel_x3350").
 */
static void cut(const char *name, char series[static WORD_MAX], char model[static WORD_MAX],
		unsigned *ret_cores)
{
	char word[WORD_MAX], before[WORD_MAX] = "";
	size_t length = 0;

	for (name = next_word(name, word); word[0]; name = next_word(name, word)) {
		bool is_series = is_among(word, series_names, ARRAY_SIZE(series_names));
		bool counts = counts_cores(word, name, ret_cores);

		if (strcmp(word, "intel") == 0 && !series[0]) {
			(void)snprintf(series, WORD_MAX, "xeon");
		} else if (is_series &&
			   (strcmp(word, "core") != 0 || strcmp(before, "intel") == 0 ||
			    strcmp(before, "r") == 0)) {
			(void)snprintf(series, WORD_MAX, "%s", word);
		} else if (!is_series && !is_among(word, common_words, ARRAY_SIZE(common_words)) &&
			   !counts && length + strlen(word) < WORD_MAX) {
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

static int compare_keys(const void *key, const void *row)
{
	return strcmp(key, ((const struct cpu_tdp *)row)->key);
}

static int compare_keys_of_cores(const void *key, const void *row)
{
	return strcmp(key, ((const struct cpu_cores *)row)->key);
}

static unsigned find_tdp(const char *key)
{
	const struct cpu_tdp *row =
		bsearch(key, cpu_tdps, cpu_tdp_count, sizeof(*row), compare_keys);

	return row ? row->watts : 0;
}

/* "altraq8030", "altram12830": 80 and 128 cores, 3.0 GHz. */
static unsigned cores_of_altra(const char *key)
{
	static const char *const patterns[] = { "altraq####", "altram#####", "altram####" };

	if (!fits_any(patterns, ARRAY_SIZE(patterns), key))
		return 0;
	return (unsigned)strtoul(key + strlen("altraq"), NULL, 10) / 100;
}

static unsigned find_cores(const char *key)
{
	const struct cpu_cores *row =
		bsearch(key, cpu_cores, cpu_cores_count, sizeof(*row), compare_keys_of_cores);

	return row ? row->cores : cores_of_altra(key);
}

static enum cpu_segment find_segment(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(segment_patterns); i++) {
		if (fits(segment_patterns[i].pattern, key))
			return segment_patterns[i].segment;
	}
	return CPU_SEGMENT_OTHER;
}

static unsigned find_year(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(year_patterns); i++) {
		if (fits(year_patterns[i].pattern, key))
			return year_patterns[i].year;
	}
	return 0;
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
	cut(text, series, model, &known.cores);
	if (model[0] &&
	    snprintf(known.key, sizeof(known.key), "%s%s", series, model) >= CPU_KEY_MAX)
		known.key[0] = '\0';
	if (known.key[0]) {
		known.tdp_w = find_tdp(known.key);
		known.cores = known.cores ? known.cores : find_cores(known.key);
		known.segment = find_segment(known.key);
		known.year = find_year(known.key);
		known.low_power =
			fits_any(low_power_patterns, ARRAY_SIZE(low_power_patterns), known.key);
		known.desktop = fits_any(desktop_patterns, ARRAY_SIZE(desktop_patterns), known.key);
	}
	*ret = known;
}
