// SPDX-License-Identifier: Apache-2.0
/*
 * /proc/PID/stat, proc(5): the name is in parentheses and may hold any byte, so the fields are
 * counted from the last one. Field 4 is the parent, field 22 the start in clock ticks of BOOTTIME.
 */
#include "workload/proc_process.h"

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

/* The n-th word after @text, which words start at. */
static int read_field(const char *text, unsigned n, uint64_t *ret)
{
	for (unsigned i = 0; i < n && *text; i++) {
		text += strcspn(text, " ");
		text += *text == ' ';
	}
	return parse_u64(text, strcspn(text, " \n"), ret);
}

int proc_process_read(int proc_fd, uint32_t pid, struct proc_process *ret)
{
	struct proc_process process = { 0 };
	uint64_t ppid = 0, start_ticks = 0;
	char text[STAT_MAX], *name, *end;
	ssize_t len = proc_process_text(proc_fd, pid, "stat", text, sizeof(text));
	size_t name_len;
	int r;

	if (len < 0)
		return (int)len;
	name = strchr(text, '(');
	end = strrchr(text, ')');
	if (!name || !end || end < name || end[1] != ' ')
		return -EINVAL;
	r = read_field(end + 2, 1, &ppid);
	if (r == 0)
		r = read_field(end + 2, 19, &start_ticks);
	if (r < 0)
		return r;
	name_len = (size_t)(end - name - 1);
	if (name_len >= sizeof(process.comm))
		name_len = sizeof(process.comm) - 1;
	memcpy(process.comm, name + 1, name_len);
	process.ppid = (uint32_t)ppid;
	process.start_ns = start_ticks * (NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK));
	*ret = process;
	return 0;
}

int proc_process_uid(int proc_fd, uint32_t pid, uint32_t *ret)
{
	static const char key[] = "\nUid:\t";
	char text[STATUS_MAX], *at;
	ssize_t len = proc_process_text(proc_fd, pid, "status", text, sizeof(text));
	uint64_t uid;
	int r;

	if (len < 0)
		return (int)len;
	at = strstr(text, key); /* a name cannot hold it: its newline is escaped there */
	if (!at)
		return -EINVAL;
	at += sizeof(key) - 1;
	r = parse_u64(at, strspn(at, "0123456789"), &uid);
	if (r < 0 || uid > UINT32_MAX)
		return -EINVAL;
	*ret = (uint32_t)uid;
	return 0;
}

int proc_process_exe(int proc_fd, uint32_t pid, char *buf, size_t size)
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

bool proc_process_is(const struct proc_process *process, uint64_t start_ns)
{
	uint64_t tick_ns = 2 * NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK);

	return start_ns + tick_ns >= process->start_ns && process->start_ns + tick_ns >= start_ns;
}

ssize_t proc_process_text(int proc_fd, uint32_t pid, const char *name, char *buf, size_t size)
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
