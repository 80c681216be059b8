// SPDX-License-Identifier: Apache-2.0
#include "evidence/pages/process_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"

#define COMM_MAX      16
#define PRESENT_LEAST 10 /* one row of so many */

void process_rows_look(struct process_rows *rows, double now_s, double least_s)
{
	if (!rows->procfs || (rows->looks > 0 && now_s - rows->looked_s < least_s))
		return;
	char path[512];

	(void)snprintf(path, sizeof(path), "%s/self", rows->procfs);
	ssize_t len = readlink(path, rows->own_pid, sizeof(rows->own_pid) - 1);
	rows->own_pid[len > 0 ? len : 0] = '\0';
	rows->is_looking = true;
	rows->looked_s = now_s;
	if (rows->looks == 0)
		rows->late_s = now_s + least_s / 2;
	rows->rows = rows->gauges = rows->present = 0;
	rows->has_own = rows->has_own_name = false;
}

void process_rows_end(struct process_rows *rows)
{
	if (rows->is_looking && rows->rows > 0)
		rows->looks++;
	rows->is_looking = rows->is_looking && rows->rows == 0;
}

bool process_rows_are_ours(const struct process_rows *rows)
{
	return rows->looks > 1 && rows->has_own &&
	       (rows->has_own_name || rows->present * PRESENT_LEAST >= rows->rows);
}

/* "": the series is not a process'. */
static const char *pid_of(const struct page_series *series)
{
	const char *pid = page_label(series, "pid");

	if (*pid == '\0' && strcmp(page_label(series, "resource_consumer_kind"), "process") == 0)
		pid = page_label(series, "resource_consumer_id");
	return strspn(pid, "0123456789") == strlen(pid) && strcmp(pid, "0") != 0 ? pid : "";
}

/* Length of its name, or -errno. */
static ssize_t read_name(const char *procfs, const char *pid, char *ret)
{
	char path[512];

	*ret = '\0';
	(void)snprintf(path, sizeof(path), "%s/%.20s/comm", procfs, pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ssize_t len = read(fd, ret, COMM_MAX);
	(void)close(fd);
	if (len > 0 && ret[len - 1] == '\n')
		len--;
	ret[len < 0 ? 0 : len] = '\0';
	return len < 0 ? -EIO : len;
}

/* Escapes and cuts differ; a name is compared if it is plain. */
static bool is_plain(const char *name)
{
	for (const char *at = name; *at; at++)
		if (*at < '!' || *at > '~' || *at == '\\' || *at == '"')
			return false;
	return *name && strlen(name) < COMM_MAX;
}

/* Returns true if it was so at the first check; that one is remembered. */
static bool is_again(struct process_rows *rows, uint64_t hash)
{
	for (size_t i = 0; i < rows->first_count; i++)
		if (rows->first[i] == hash)
			return rows->looks > 0;
	if (rows->looks == 0 && rows->first_count < PROCESS_ROWS_MAX)
		rows->first[rows->first_count++] = hash;
	return false;
}

void process_rows_take(struct process_rows *rows, const struct page_series *series, bool is_gauge,
		       double grown_s)
{
	const char *pid = pid_of(series), *said = page_label(series, "comm");
	char name[COMM_MAX + 1];

	if (!rows->is_looking || *pid == '\0' ||
	    strcmp(page_label(series, "state"), "terminated") == 0)
		return;
	if (*said == '\0')
		said = page_label(series, "command");
	const uint64_t hash = hash64_text(hash64_text(HASH64_START, pid), said);
	ssize_t len = read_name(rows->procfs, pid, name);
	rows->rows++;
	rows->gauges += is_gauge;
	rows->present += len != -ENOENT;
	if (strcmp(pid, rows->own_pid) == 0) {
		rows->has_own = true;
		rows->has_own_name |= *said && strcmp(said, name) == 0;
	}
	if (len == -ENOENT) {
		if (is_gauge && is_again(rows, ~hash))
			exporter_fault_note(&rows->dead, "process %.20s", pid);
	} else if (len > 0 && is_plain(said) && is_plain(name) && strcmp(said, name) != 0) {
		if (is_again(rows, hash) && (is_gauge || grown_s > rows->late_s))
			exporter_fault_note(&rows->renamed, "process %.20s is %s, not %.40s", pid,
					    name, said);
	}
}
