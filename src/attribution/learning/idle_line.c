// SPDX-License-Identifier: Apache-2.0
/*
 * A learner as a line of text. The file that holds it may be torn, old or hostile: keys stand in
 * one order, each number must be finite and in the range that idle_learner_add() can produce, or
 * the line is refused as a whole and learning starts over.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "attribution/learning/idle.h"
#include "base/macro.h"
#include "base/num.h"

#define VERSION_TAG "idle=3"
#define BEFORE_TAG  "idle=2" /* had no quiet times; 1 extrapolated at will, and is refused */
#define VALUE_MAX   48

struct field {
	const char *key;
	size_t offset;
	double min, max;
	bool is_new; /* the version before has none */
};

#define FIELD(name, min, max)                                                                      \
	{                                                                                          \
#name, offsetof(struct idle_learner, name), min, max, false                        \
	}
#define NEW_FIELD(name, min, max)                                                                  \
	{                                                                                          \
#name, offsetof(struct idle_learner, name), min, max, true                         \
	}

static const struct field fields[] = {
	FIELD(w, 0, 1e12),
	FIELD(wx, 0, 1e12),
	FIELD(wy, 0, 1e18),
	FIELD(wxx, 0, 1e12),
	FIELD(wxy, 0, 1e18),
	FIELD(wyy, 0, 1e24),
	FIELD(readings, 0, 1e12),
	FIELD(x_min, 0, 1),
	FIELD(x_max, 0, 1),
	FIELD(floor_w, -1, 1e6),
	FIELD(floor_before_w, -1, 1e6),
	FIELD(floor_x, 0, 1),
	FIELD(floor_before_x, 0, 1),
	NEW_FIELD(quiet_w, 0, 1e6),
	NEW_FIELD(quiet_before_w, -1, 1e6),
	NEW_FIELD(quiet_x, 0, 1),
	NEW_FIELD(quiet_before_x, 0, 1),
	FIELD(floor_candidate_w, 0, 1e6),
	FIELD(floor_candidate_x, 0, 1),
	FIELD(noise_w, -1, 1e6),
	FIELD(idle_w, 0, 1e6),
};

#define WINDOW_KEY  "floor_window_ns"
#define AGE_KEY     "floor_age_ns"
#define TIME_KEY    "time_ns"
#define LEARNED_KEY "learned"

static double *field_of(struct idle_learner *learner, size_t i)
{
	return (double *)(void *)((char *)learner + fields[i].offset);
}

int idle_learner_format(const struct idle_learner *learner, char *buf, size_t size)
{
	struct idle_learner copy = *learner;
	size_t len = 0;
	int n = snprintf(buf, size, "%s", VERSION_TAG);

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		char value[FORMAT_DOUBLE_MAX];
		int digits = (int)format_double(value, *field_of(&copy, i));

		len += (size_t)n;
		if (len >= size)
			return -ENOSPC;
		n = snprintf(buf + len, size - len, " %s=%.*s", fields[i].key, digits, value);
	}
	len += (size_t)n;
	if (len >= size)
		return -ENOSPC;
	n = snprintf(buf + len, size - len, " %s=%llu %s=%llu %s=%llu %s=%d", WINDOW_KEY,
		     (unsigned long long)learner->floor_window_ns, AGE_KEY,
		     (unsigned long long)learner->floor_age_ns, TIME_KEY,
		     (unsigned long long)learner->time_ns, LEARNED_KEY, learner->learned);
	len += (size_t)n;
	return len < size ? (int)len : -ENOSPC;
}

/*
 * Reads " KEY=VALUE" from *@line and moves past it. -EINVAL, or 0 with the value in
 * @value[VALUE_MAX].
 */
static int take_value(const char **line, const char *key, char *value)
{
	size_t key_len = strlen(key), len;
	const char *text = *line;

	if (*text != ' ' || strncmp(text + 1, key, key_len) != 0 || text[1 + key_len] != '=')
		return -EINVAL;
	text += 1 + key_len + 1;
	len = strcspn(text, " \n");
	if (len == 0 || len >= VALUE_MAX)
		return -EINVAL;
	memcpy(value, text, len);
	value[len] = '\0';
	*line = text + len;
	return 0;
}

static int take_u64(const char **line, const char *key, uint64_t max, uint64_t *ret)
{
	char value[VALUE_MAX];
	uint64_t number;

	if (take_value(line, key, value) < 0 || parse_u64(value, strlen(value), &number) < 0 ||
	    number > max)
		return -EINVAL;
	*ret = number;
	return 0;
}

static int take_field(const char **line, const struct field *field, double *ret)
{
	char value[VALUE_MAX];
	double number;

	if (take_value(line, field->key, value) < 0 || parse_double(value, &number) < 0 ||
	    !(number >= field->min && number <= field->max))
		return -EINVAL;
	*ret = number;
	return 0;
}

/* Conditions that sums of real readings satisfy; the slack is for rounding. */
static bool is_coherent(const struct idle_learner *l)
{
	return l->x_min <= l->x_max && l->wx <= l->w * (1 + 1e-9) && l->wxx <= l->wx * (1 + 1e-9) &&
	       l->wxy <= l->wy * (1 + 1e-9) &&
	       l->wx * l->wx <= l->wxx * l->w * (1 + 1e-9) + 1e-12 &&
	       l->wy * l->wy <= l->wyy * l->w * (1 + 1e-9) + 1e-12 &&
	       (!l->learned || (l->floor_w >= 0 && l->idle_w <= l->floor_w));
}

static void use_floor_as_quiet(struct idle_learner *learner)
{
	learner->quiet_w = fmax(learner->floor_w, 0);
	learner->quiet_x = learner->floor_x;
	learner->quiet_before_w = learner->floor_before_w;
	learner->quiet_before_x = learner->floor_before_x;
}

int idle_learner_parse(const char *line, struct idle_learner *ret)
{
	const uint64_t century_ns = 100ULL * 366 * 86400 * NSEC_PER_SEC;
	struct idle_learner learner = { 0 };
	bool is_before = strncmp(line, BEFORE_TAG, strlen(BEFORE_TAG)) == 0;
	uint64_t learned;

	if (!is_before && strncmp(line, VERSION_TAG, strlen(VERSION_TAG)) != 0)
		return -EINVAL;
	line += strlen(VERSION_TAG);
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (!(is_before && fields[i].is_new) &&
		    take_field(&line, &fields[i], field_of(&learner, i)) < 0)
			return -EINVAL;
	}
	if (is_before)
		use_floor_as_quiet(&learner);
	if (take_u64(&line, WINDOW_KEY, 30 * NSEC_PER_SEC, &learner.floor_window_ns) < 0 ||
	    take_u64(&line, AGE_KEY, century_ns, &learner.floor_age_ns) < 0 ||
	    take_u64(&line, TIME_KEY, century_ns, &learner.time_ns) < 0 ||
	    take_u64(&line, LEARNED_KEY, 1, &learned) < 0)
		return -EINVAL;
	learner.learned = learned;
	if ((*line && strcmp(line, "\n") != 0) || !is_coherent(&learner))
		return -EINVAL;
	*ret = learner;
	return 0;
}
