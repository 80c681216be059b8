// SPDX-License-Identifier: Apache-2.0
/*
 * The name ends at the LAST parenthesis of the line: only numbers follow it, so no name can fake
 * one. The kernel writes a newline and a backslash in a name as \n and \\; everything else is raw.
 */
#include "host/proc.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"

#define STAT_MAX   1024
#define STATUS_MAX 4096 /* the user is in the first lines */

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

/* Unused fields may be negative; a negative time (seen for cutime) counts as 0. */
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

int proc_read_stat(int proc_fd, uint32_t pid, struct proc_stat *ret)
{
	char text[STAT_MAX];
	ssize_t len = proc_read_text(proc_fd, pid, "stat", text, sizeof(text));

	return len < 0 ? (int)len : proc_stat_parse(text, (size_t)len, ret);
}

static uint64_t tick_ns(void)
{
	return NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);
}

uint64_t proc_start_ns(const struct proc_stat *stat)
{
	return stat->start_ticks * tick_ns();
}

bool proc_is_same_start(uint64_t a_ns, uint64_t b_ns)
{
	return a_ns + 2 * tick_ns() >= b_ns && b_ns + 2 * tick_ns() >= a_ns;
}

int proc_read_uid(int proc_fd, uint32_t pid, uint32_t *ret)
{
	static const char key[] = "\nUid:\t";
	char text[STATUS_MAX], *at;
	ssize_t len = proc_read_text(proc_fd, pid, "status", text, sizeof(text));
	uint64_t uid;
	int r;

	if (len < 0)
		return (int)len;
	at = strstr(text, key); /* a name cannot contain a newline: it is escaped there */
	if (!at)
		return -EINVAL;
	at += sizeof(key) - 1;
	r = parse_u64(at, strspn(at, "0123456789"), &uid);
	if (r < 0 || uid > UINT32_MAX)
		return -EINVAL;
	*ret = (uint32_t)uid;
	return 0;
}

int proc_read_exe(int proc_fd, uint32_t pid, char *buf, size_t size)
{
	static const char gone[] = " (deleted)";
	char link[32], path[PATH_MAX], *name;
	ssize_t len;

	if (proc_fd < 0)
		return -ENODATA;
	(void)snprintf(link, sizeof(link), "%u/exe", pid);
	len = readlinkat(proc_fd, link, path, sizeof(path) - 1);
	if (len < 0)
		return -errno;
	path[len] = '\0';
	name = strrchr(path, '/');
	name = name ? name + 1 : path;
	len = (ssize_t)strlen(name) - (ssize_t)strlen(gone);
	if (len > 0 && strcmp(name + len, gone) == 0)
		name[len] = '\0'; /* replaced while it runs: an upgrade */
	(void)snprintf(buf, size, "%.*s", (int)size - 1, name);
	return 0;
}

ssize_t proc_read_text(int proc_fd, uint32_t pid, const char *name, char *buf, size_t size)
{
	char path[48];
	ssize_t len;

	if (proc_fd < 0 || pid == 0)
		return -ENODATA;
	(void)snprintf(path, sizeof(path), "%u/%s", pid, name);
	len = read_file_at(proc_fd, path, buf, size);
	if (len != -EFBIG)
		return len;
	buf[size - 1] = '\0';
	return (ssize_t)size - 1;
}
