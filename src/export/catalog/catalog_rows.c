// SPDX-License-Identifier: Apache-2.0
/*
 * The families of rows are alike for all levels, so they are written once, with the words of a
 * level (attribution/level_info.h) in angle brackets, and made for each level when they are first
 * asked for.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "export/catalog/catalog_table.h"

/* Which levels have a family. */
enum which {
	EACH_LEVEL,
	WITH_WORK,        /* those that show CPU time and counters */
	GROUPS_WITH_WORK, /* ... without processes */
	WITH_FACTS,       /* those with labels of facts */
};

struct pattern {
	struct family family; /* the level of its rows is to be filled in */
	enum which which;
};

#define ROWS_OF(decimals_)                                                                         \
	{                                                                                          \
		.decimals = (decimals_)                                                            \
	}

/* clang-format off */
static const struct pattern patterns[] = {
	{ { "kepler_<level>_joules", COUNTER, "joules", BOTH,
	    OF_ROW_TOTALS, ROWS_OF(6), L_TOTAL,
	    "Energy charged to the <one>: the sum of the zones that "
	    "kepler_node_joules_total has." SETTLES, NULL }, EACH_LEVEL },
	{ { "kepler_<level>_watts", GAUGE, "watts", BOTH,
	    OF_ROW_TOTALS, ROWS_OF(6), L_TOTAL,
	    "Mean power of the <one> over the last interval: its part of "
	    "kepler_node_watts.", NULL }, EACH_LEVEL },
	{ { "kepler_<level>_<zone>_joules", COUNTER, "joules", CLASSIC,
	    OF_ROWS, ROWS_OF(6), L_ROW,
	    "Energy charged to <charged>." SETTLES, NULL }, EACH_LEVEL },
	{ { "kepler_<level>_retired_joules", COUNTER, "joules", BOTH,
	    OF_RETIRED, ROWS_OF(6), L_ROW_ZONE,
	    "Energy of <retired> that are no longer shown.", NULL }, EACH_LEVEL },
	{ { "kepler_<level>_<zone>_watts", GAUGE, "watts", CLASSIC,
	    OF_ROWS, ROWS_OF(6), L_ROW,
	    "Mean power of the <one> over the last interval.", NULL }, GROUPS_WITH_WORK },
	{ { "kepler_<level>_bpf_cpu_time_ms", COUNTER, "", CLASSIC,
	    OF_ROWS_CPU, ROWS_OF(6), L_CPU,
	    "CPU time of <work>, in milliseconds." SETTLES, NULL }, WITH_WORK },
	{ { "kepler_<level>_<counter>", COUNTER, "", BOTH,
	    OF_ROWS_COUNTERS, ROWS_OF(0), L_CPU,
	    "<Work>: <counter>." SETTLES, NULL }, WITH_WORK },
	{ { "kepler_<level>_retired_<counter>", COUNTER, "", BOTH,
	    OF_RETIRED_COUNTERS, ROWS_OF(0), L_CPU,
	    "<Retired> that are no longer shown: <counter>.", NULL }, WITH_WORK },
	{ { "kepler_<level>_bpf_<event>", COUNTER, "", CLASSIC,
	    OF_ROWS_COUNTERS, ROWS_OF(0), L_CPU,
	    "<Work>: <counter>." SETTLES, NULL }, WITH_WORK },
	{ { "kepler_<level>", INFO, "", BOTH,
	    OF_PODS, ROWS_OF(0), LABELS(POINT_QOS_CLASS),
	    "A <one> that is shown. qos_class is Guaranteed, Burstable or BestEffort, as reported "
	    "by Kubernetes, or empty.", NULL }, WITH_FACTS },
	{ { "kepler_unit_joules", COUNTER, "joules", BOTH,
	    OF_UNIT_ENERGY, ROWS_OF(6), L_UNIT_ENERGY,
	    "Part of kepler_<level>_joules_total that was charged while the unit of work was "
	    "counted (--units.rule): divided by kepler_units_total, the energy of a unit. Absent "
	    "while its counter cannot be read.", NULL }, WITH_FACTS },
	{ { "kepler_units", COUNTER, "", BOTH,
	    OF_UNITS, ROWS_OF(6), L_UNIT,
	    "Units of work of the <one>, counted over the time of kepler_unit_joules_total.",
	    NULL }, WITH_FACTS },
};

static const struct pattern patterns_current[] = {
	{ { "kepler_<level>_gpu_joules", COUNTER, "joules", ALONE,
	    OF_ROWS_DEVICES, ROWS_OF(6), L_GPU_STATE,
	    "Active energy of the <one> in GPUs, by its use of each." SETTLES, NULL }, EACH_LEVEL },
	{ { "kepler_<level>_gpu_retired_joules", COUNTER, "joules", ALONE,
	    OF_RETIRED_DEVICES, ROWS_OF(6), L_GPU_ROW,
	    "Active energy in GPUs of <retired> that are no longer shown.", NULL }, EACH_LEVEL },
	{ { "kepler_<level>_gpu_watts", GAUGE, "watts", ALONE,
	    OF_ROWS_DEVICES, ROWS_OF(6), L_GPU_STATE,
	    "Active power of the <one> in GPUs over the last interval.", NULL }, WITH_WORK },
	{ { "kepler_<level>_cpu_joules", COUNTER, "joules", CURRENT,
	    OF_ROWS, ROWS_OF(6), L_CUR_STATE,
	    "Active energy of the <one> in a measured zone." SETTLES, NULL }, EACH_LEVEL },
	{ { "kepler_<level>_cpu_retired_joules", COUNTER, "joules", CURRENT,
	    OF_RETIRED, ROWS_OF(6), L_CUR_ROW,
	    "Active energy of <retired> that are no longer shown.", NULL }, EACH_LEVEL },
	{ { "kepler_<level>_cpu_watts", GAUGE, "watts", CURRENT,
	    OF_ROWS, ROWS_OF(6), L_CUR_STATE,
	    "Active power of the <one> over the last interval.", NULL }, WITH_WORK },
	{ { "kepler_<level>_cpu_seconds", COUNTER, "seconds", CURRENT,
	    OF_ROWS_CPU, ROWS_OF(9), L_NODE,
	    "CPU time of <work>." SETTLES, NULL }, WITH_WORK },
};
/* clang-format on */

#define FAMILIES_MAX ((ARRAY_SIZE(patterns) + ARRAY_SIZE(patterns_current)) * LEVEL_COUNT)
#define TEXTS_MAX    (FAMILIES_MAX * 160) /* bytes; what does not fit is cut */

static struct {
	pthread_once_t once;
	struct family families[FAMILIES_MAX]; /* those of patterns first */
	size_t count, current_count;
	char texts[TEXTS_MAX];
	size_t text_len;
} made = { .once = PTHREAD_ONCE_INIT };

static bool has_family(const struct level_info *info, enum level level, enum which which)
{
	switch (which) {
	case WITH_WORK:
		return info->has_work;
	case GROUPS_WITH_WORK:
		return info->has_work && level != LEVEL_PROCESS;
	case WITH_FACTS:
		return level >= LEVEL_GROUPS && info->facts != LABEL_GROUP_COUNT;
	case EACH_LEVEL:
		break;
	}
	return true;
}

/* The word of a level in the place of the name in brackets at @text; NULL: it is another text. */
static const char *word_at(const char *text, const struct level_info *info, size_t *ret_len,
			   bool *ret_capital)
{
	const struct {
		const char *name, *word;
		bool capital;
	} words[] = {
		{ "<level>", info->name, false },
		{ "<one>", info->words.one, false },
		{ "<charged>", info->words.charged, false },
		{ "<work>", info->words.work, false },
		{ "<Work>", info->words.work, true },
		{ "<retired>", info->words.retired, false },
		{ "<Retired>", info->words.retired, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		*ret_len = strlen(words[i].name);
		*ret_capital = words[i].capital;
		if (strncmp(text, words[i].name, *ret_len) == 0)
			return words[i].word;
	}
	return NULL;
}

static void add_text(const char *text, size_t len)
{
	size_t room = TEXTS_MAX - 1 - made.text_len;

	len = len < room ? len : room;
	memcpy(made.texts + made.text_len, text, len);
	made.text_len += len;
}

/* The text with the words of the level. */
static const char *make_text(const char *text, const struct level_info *info)
{
	size_t begin = made.text_len;

	while (*text) {
		size_t len = 1;
		bool capital = false;
		const char *word = *text == '<' ? word_at(text, info, &len, &capital) : NULL;

		len = word ? len : 1;
		add_text(word ? word : text, word ? strlen(word) : 1);
		if (word && capital)
			made.texts[made.text_len - strlen(word)] -= 'a' - 'A';
		text += len;
	}
	made.texts[made.text_len] = '\0';
	if (made.text_len + 1 < TEXTS_MAX)
		made.text_len++;
	return made.texts + begin;
}

static size_t make_families(const struct pattern *table, size_t count, enum level level,
			    struct family *ret)
{
	const struct level_info *info = &level_info[level];
	size_t made_here = 0;

	for (size_t i = 0; i < count; i++) {
		struct family *family = &ret[made_here];

		if (!has_family(info, level, table[i].which))
			continue;
		*family = table[i].family;
		family->name = make_text(table[i].family.name, info);
		family->help = make_text(table[i].family.help, info);
		family->where.level = (uint8_t)level;
		made_here++;
	}
	return made_here;
}

/* Processes come last on a page. */
static size_t make_levels(const struct pattern *table, size_t count, struct family *ret)
{
	size_t sum = 0;

	for (enum level level = LEVEL_CONTAINER; level < LEVEL_COUNT; level++)
		sum += make_families(table, count, level, ret + sum);
	return sum + make_families(table, count, LEVEL_PROCESS, ret + sum);
}

static void make_all(void)
{
	made.count = make_levels(patterns, ARRAY_SIZE(patterns), made.families);
	made.current_count = make_levels(patterns_current, ARRAY_SIZE(patterns_current),
					 made.families + made.count);
}

const struct family *catalog_rows(size_t *ret_count)
{
	(void)pthread_once(&made.once, make_all);
	*ret_count = made.count;
	return made.families;
}

const struct family *catalog_rows_current(size_t *ret_count)
{
	(void)pthread_once(&made.once, make_all);
	*ret_count = made.current_count;
	return made.families + made.count;
}
