// SPDX-License-Identifier: Apache-2.0
#include "meter/external/external_text.h"

#include <errno.h>
#include <string.h>

#include "base/num.h"

#define HEADER        "kepler-meter 1"
#define FRACTION_MAX  9
#define WINDOW_MAX_NS (3600 * NSEC_PER_SEC)
#define NAME_BYTES    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-:/"

/* A part of a line. */
struct slice {
	const char *at;
	size_t len;
};

static bool is_text(struct slice slice, const char *text)
{
	return slice.len == strlen(text) && memcmp(slice.at, text, slice.len) == 0;
}

/* The next line without its end; there is one. */
static struct slice take_line(struct external_text *text)
{
	const char *newline = memchr(text->at, '\n', (size_t)(text->end - text->at));
	struct slice line = { text->at, (size_t)(newline - text->at) };

	text->at = newline + 1;
	text->line++;
	if (line.len && line.at[line.len - 1] == '\r')
		line.len--;
	return line;
}

int external_text_begin(struct external_text *text, const char *start, size_t len,
			struct diag *diag)
{
	*text = (struct external_text){ start, start + len, 0 };
	if (!len || start[len - 1] != '\n')
		return diag_set(diag, -EBADMSG, "it ends within a line");
	if (!is_text(take_line(text), HEADER))
		return diag_set(diag, -EINVAL, "its first line is not \"" HEADER "\"");
	return 0;
}

/* Decimal seconds, to the nanosecond: a float would be a quarter of a microsecond off. */
static int read_seconds(struct slice value, uint64_t *ret_ns)
{
	const char *dot = memchr(value.at, '.', value.len);
	size_t whole_len = dot ? (size_t)(dot - value.at) : value.len;
	size_t digits = dot ? value.len - whole_len - 1 : 0;
	uint64_t seconds, fraction = 0, ns;
	int r = parse_u64(value.at, whole_len, &seconds);

	if (r == 0 && dot)
		r = digits <= FRACTION_MAX ? parse_u64(dot + 1, digits, &fraction) : -EINVAL;
	if (r < 0)
		return r;
	for (; digits < FRACTION_MAX; digits++)
		fraction *= 10;
	if (__builtin_mul_overflow(seconds, NSEC_PER_SEC, &ns) ||
	    __builtin_add_overflow(ns, fraction, ret_ns))
		return -ERANGE;
	return 0;
}

static int read_name(struct slice value, char ret[static EXTERNAL_NAME_MAX])
{
	if (!value.len || value.len >= EXTERNAL_NAME_MAX)
		return -EINVAL;
	for (size_t i = 0; i < value.len; i++) {
		if (!value.at[i] || !strchr(NAME_BYTES, value.at[i]))
			return -EINVAL;
	}
	memcpy(ret, value.at, value.len);
	ret[value.len] = '\0';
	return 0;
}

enum key { KEY_ZONE, KEY_UJ, KEY_UW, KEY_TIME, KEY_WINDOW, KEY_NAME, KEY_COUNT };

static const char *const key_names[KEY_COUNT] = {
	[KEY_ZONE] = "zone", [KEY_UJ] = "uj",         [KEY_UW] = "uw",
	[KEY_TIME] = "time", [KEY_WINDOW] = "window", [KEY_NAME] = "name",
};

static int read_value(enum key key, struct slice value, struct external_record *ret)
{
	switch (key) {
	case KEY_ZONE:
		return zone_id_parse(value.at, value.len, &ret->zone.kind, ret->zone.instance)
			       ? 0
			       : -EINVAL;
	case KEY_UJ:
		ret->sample = SAMPLE_TOTAL;
		return parse_u64(value.at, value.len, &ret->value);
	case KEY_UW:
		ret->sample = SAMPLE_POWER;
		return parse_u64(value.at, value.len, &ret->value);
	case KEY_TIME:
		return read_seconds(value, &ret->time_ns);
	case KEY_WINDOW:
		return read_seconds(value, &ret->window_ns) < 0 || ret->window_ns > WINDOW_MAX_NS
			       ? -EINVAL
			       : 0;
	case KEY_NAME:
		return read_name(value, ret->zone.path);
	case KEY_COUNT:
		break;
	}
	return -EINVAL;
}

/* One key=value; the keys of the line so far are bits of *seen. */
static int read_pair(struct slice pair, unsigned line, unsigned *seen, struct external_record *ret,
		     struct diag *diag)
{
	const char *equals = memchr(pair.at, '=', pair.len);
	struct slice name = { pair.at, equals ? (size_t)(equals - pair.at) : pair.len };
	enum key key = 0;

	while (key < KEY_COUNT && !is_text(name, key_names[key]))
		key++;
	if (key == KEY_COUNT || !equals)
		return diag_set(diag, -EINVAL,
				"line %u: \"%.*s\" is not one of zone=, uj=, uw=, time=, window=, "
				"name=",
				line, (int)(pair.len < 40 ? pair.len : 40), pair.at);
	if (*seen & 1U << key)
		return diag_set(diag, -EINVAL, "line %u: %s is given twice", line, key_names[key]);
	*seen |= 1U << key;
	if (read_value(key, (struct slice){ equals + 1, pair.len - name.len - 1 }, ret) < 0)
		return diag_set(diag, -EINVAL, "line %u: %.*s is not a valid value of %s", line,
				(int)(pair.len - name.len - 1 < 40 ? pair.len - name.len - 1 : 40),
				equals + 1, key_names[key]);
	return 0;
}

static int read_line(struct slice line, unsigned number, struct external_record *ret,
		     struct diag *diag)
{
	unsigned seen = 0;

	*ret = (struct external_record){ 0 };
	while (line.len) {
		size_t len = 0, blanks = 0;
		int r;

		while (blanks < line.len && (line.at[blanks] == ' ' || line.at[blanks] == '\t'))
			blanks++;
		line = (struct slice){ line.at + blanks, line.len - blanks };
		while (len < line.len && line.at[len] != ' ' && line.at[len] != '\t')
			len++;
		r = len ? read_pair((struct slice){ line.at, len }, number, &seen, ret, diag) : 0;
		if (r < 0)
			return r;
		line = (struct slice){ line.at + len, line.len - len };
	}
	if (!(seen & 1U << KEY_ZONE))
		return diag_set(diag, -EINVAL, "line %u: it has no zone=", number);
	if (!(seen & 1U << KEY_UJ) == !(seen & 1U << KEY_UW))
		return diag_set(diag, -EINVAL, "line %u: either uj= or uw= is required", number);
	if (ret->window_ns && ret->sample != SAMPLE_POWER)
		return diag_set(diag, -EINVAL, "line %u: window= requires uw=", number);
	ret->zone.domain = zone_domain(ret->zone.kind, ret->zone.instance);
	ret->zone.rank = ret->sample == SAMPLE_POWER ? RANK_SENSOR_POWER : RANK_SENSOR_ENERGY;
	return 1;
}

int external_text_next(struct external_text *text, struct external_record *ret, struct diag *diag)
{
	while (text->at < text->end) {
		struct slice line = take_line(text);

		if (line.len && line.at[0] != '#')
			return read_line(line, text->line, ret, diag);
	}
	return 0;
}
