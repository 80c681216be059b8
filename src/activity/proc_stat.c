// SPDX-License-Identifier: Apache-2.0
/*
 * The name ends at the LAST parenthesis of the line: what follows it is numbers, so no name can
 * fake one. The kernel writes a newline and a backslash in a name as \n and \\; everything else is
 * raw.
 */
#include "activity/proc_stat.h"

#include <errno.h>
#include <string.h>

#include "base/num.h"

enum field { /* as proc(5) counts them */
	     FIELD_STATE = 3,
	     FIELD_PPID = 4,
	     FIELD_FLAGS = 9,
	     FIELD_UTIME = 14,
	     FIELD_STIME = 15,
	     FIELD_CUTIME = 16,
	     FIELD_CSTIME = 17,
	     FIELD_THREADS = 20,
	     FIELD_START = 22,
	     FIELD_RSS = 24,
	     FIELD_CPU = 39,
};

static void copy_comm(char *comm, const char *text, const char *end)
{
	size_t len = 0;

	for (; text < end && len < COMM_MAX - 1; text++) {
		char c = *text;

		if (c == '\\' && text + 1 < end && (text[1] == 'n' || text[1] == '\\'))
			c = *++text == 'n' ? '\n' : '\\';
		comm[len++] = c;
	}
	memset(comm + len, 0, COMM_MAX - len);
}

/* Fields that we do not read may be negative; a negative time (seen for cutime) counts as none. */
static int parse_field(const char *text, size_t len, uint64_t *ret)
{
	if (len && *text == '-') {
		*ret = 0;
		return parse_u64(text + 1, len - 1, &(uint64_t){ 0 });
	}
	return parse_u64(text, len, ret);
}

static void store_field(struct proc_stat *stat, int field, uint64_t value)
{
	switch (field) {
	case FIELD_PPID:
		stat->ppid = (uint32_t)value;
		break;
	case FIELD_FLAGS:
		stat->flags = (uint32_t)value;
		break;
	case FIELD_UTIME:
	case FIELD_STIME:
		stat->self_ticks += value;
		break;
	case FIELD_CUTIME:
	case FIELD_CSTIME:
		stat->reaped_ticks += value;
		break;
	case FIELD_THREADS:
		stat->threads = (uint32_t)value;
		break;
	case FIELD_START:
		stat->start_ticks = value;
		break;
	case FIELD_RSS:
		stat->rss_pages = value;
		break;
	case FIELD_CPU:
		stat->cpu = (uint32_t)value;
		break;
	default:
		break;
	}
}

/* The fields after the name: one letter, then numbers, one blank between two. */
static int parse_fields(const char *text, const char *end, struct proc_stat *stat)
{
	if (end - text < 4 || text[0] != ' ' || text[2] != ' ')
		return -EINVAL;
	text += 3;
	for (int field = FIELD_STATE + 1; field <= FIELD_CPU; field++) {
		const char *blank = memchr(text, ' ', (size_t)(end - text));
		const char *stop = blank ? blank : end;
		uint64_t value;

		if (parse_field(text, (size_t)(stop - text), &value) < 0)
			return -EINVAL;
		store_field(stat, field, value);
		if (!blank)
			return field == FIELD_CPU ? 0 : -EINVAL;
		text = blank + 1;
	}
	return 0;
}

int proc_stat_parse(const char *text, size_t len, struct proc_stat *ret)
{
	const char *end = text + len;
	const char *open = memchr(text, '(', len);
	const char *close = memrchr(text, ')', len);
	struct proc_stat stat = { 0 };
	uint64_t pid;

	if (!open || !close || close < open || open == text || open[-1] != ' ')
		return -EINVAL;
	if (parse_u64(text, (size_t)(open - text) - 1, &pid) < 0 || pid > UINT32_MAX)
		return -EINVAL;
	stat.pid = (uint32_t)pid;
	copy_comm(stat.comm, open + 1, close);
	if (parse_fields(close + 1, end, &stat) < 0)
		return -EINVAL;
	*ret = stat;
	return 0;
}
