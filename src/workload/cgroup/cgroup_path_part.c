// SPDX-License-Identifier: Apache-2.0
/*
 * Names of cgroups are compared as bytes and never changed: a component is a view into the path.
 * Only where systemd escaped a name (systemd-escape(1)) is it copied, to undo that.
 */
#include "workload/cgroup/cgroup_path_part.h"

#include <string.h>

bool part_next(const char **at, const char *end, struct part *ret)
{
	const char *slash;

	while (*at < end && **at == '/')
		(*at)++;
	if (*at == end)
		return false;
	slash = memchr(*at, '/', (size_t)(end - *at));
	*ret = (struct part){ *at, (size_t)((slash ? slash : end) - *at) };
	*at += ret->len;
	return true;
}

size_t path_without_deleted(const char *path, size_t len)
{
	static const char mark[] = " (deleted)";
	size_t mark_len = sizeof(mark) - 1;

	if (len >= mark_len && memcmp(path + len - mark_len, mark, mark_len) == 0)
		return len - mark_len;
	return len;
}

bool part_is(struct part part, const char *text)
{
	size_t len = strlen(text);

	return part.len == len && memcmp(part.text, text, len) == 0;
}

bool part_starts(struct part part, const char *prefix)
{
	size_t len = strlen(prefix);

	return part.len > len && memcmp(part.text, prefix, len) == 0;
}

bool part_ends(struct part part, const char *suffix)
{
	size_t len = strlen(suffix);

	return part.len > len && memcmp(part.text + part.len - len, suffix, len) == 0;
}

bool part_between(struct part part, const char *prefix, const char *suffix, struct part *ret)
{
	size_t before = strlen(prefix), after = strlen(suffix);

	if (part.len <= before + after || memcmp(part.text, prefix, before) != 0 ||
	    memcmp(part.text + part.len - after, suffix, after) != 0)
		return false;
	*ret = (struct part){ part.text + before, part.len - before - after };
	return true;
}

bool part_split(struct part part, char c, struct part *ret_before, struct part *ret_after)
{
	const char *at = part.len ? memchr(part.text, c, part.len) : NULL;
	size_t before = at ? (size_t)(at - part.text) : 0;

	if (!at)
		return false;
	*ret_before = (struct part){ part.text, before };
	*ret_after = (struct part){ at + 1, part.len - before - 1 };
	return true;
}

static bool is_hex_digit(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

bool part_is_decimal(struct part part)
{
	for (size_t i = 0; i < part.len; i++)
		if (part.text[i] < '0' || part.text[i] > '9')
			return false;
	return part.len > 0 && part.len <= 10;
}

bool part_is_hex(struct part part, size_t len)
{
	for (size_t i = 0; i < part.len; i++)
		if (!is_hex_digit(part.text[i]))
			return false;
	return part.len == len;
}

bool part_is_uuid(struct part part, char dash)
{
	if (part.len != 36)
		return false;
	for (size_t i = 0; i < 36; i++) {
		bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (is_dash ? part.text[i] != dash : !is_hex_digit(part.text[i]))
			return false;
	}
	return true;
}

bool part_is_alnum(struct part part, size_t len)
{
	for (size_t i = 0; i < part.len; i++)
		if (!is_hex_digit(part.text[i]) && (part.text[i] < 'g' || part.text[i] > 'z'))
			return false;
	return part.len == len;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that "\xNN" at @text stands for, or -1. */
static int escaped_byte(const char *text, size_t len)
{
	int high, low;

	if (len < 4 || text[0] != '\\' || text[1] != 'x')
		return -1;
	high = hex_value(text[2]);
	low = hex_value(text[3]);
	return high < 0 || low < 0 || high + low == 0 ? -1 : high * 16 + low;
}

size_t part_unescape(struct part part, char *buf, size_t size)
{
	size_t len = 0;

	for (size_t i = 0; i < part.len && len + 1 < size; len++) {
		int byte = escaped_byte(part.text + i, part.len - i);

		buf[len] = byte < 0 ? part.text[i] : (char)byte;
		i += byte < 0 ? 1 : 4;
	}
	buf[len] = '\0';
	return len;
}
