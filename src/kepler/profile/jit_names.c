// SPDX-License-Identifier: Apache-2.0
#include "kepler/profile/jit_names.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "kepler/profile/root_file.h"

#define MAP_BYTES_MAX (32 << 20)

void jit_names_release(struct jit_names *names)
{
	symbol_table_release(&names->table);
	*names = JIT_NAMES_INIT;
}

void jit_names_begin_interval(struct jit_names *names)
{
	names->is_new = true;
}

/* The pid that the process has in its own pid namespace: the last of the line NSpid. */
static uint32_t own_pid(uint32_t pid)
{
	char path[32], text[4096], *line, *last;

	(void)snprintf(path, sizeof(path), "/proc/%u/status", pid);
	if (read_file_at(AT_FDCWD, path, text, sizeof(text)) < 0)
		return pid;
	line = strstr(text, "\nNSpid:");
	if (!line)
		return pid;
	line[1 + strcspn(line + 1, "\n")] = '\0';
	last = strrchr(line, '\t');
	return last ? (uint32_t)strtoul(last + 1, NULL, 10) : pid;
}

static int open_map(uint32_t pid, struct stat *ret)
{
	char path[64];
	struct stat process;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%u", pid);
	if (stat(path, &process) < 0)
		return -1;
	(void)snprintf(path, sizeof(path), "/tmp/perf-%u.map", own_pid(pid));
	fd = root_file_open(pid, path, ret);
	if (fd >= 0 &&
	    (ret->st_size > MAP_BYTES_MAX || (ret->st_uid != process.st_uid && ret->st_uid != 0))) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

/* Reads as much as the file had when it was opened: a process that writes on is not waited for. */
static void add_lines(struct symbol_table *table, int fd, size_t size)
{
	CLEANUP_FREE char *text = malloc(size + 1);
	size_t len = 0;
	ssize_t n = 1;

	if (!text)
		return;
	for (; len < size && n > 0; len += n > 0 ? (size_t)n : 0)
		n = pread(fd, text + len, size - len, (off_t)len);
	text[len] = '\0';
	for (char *line = text; line && *line;) {
		char *end = strchr(line, '\n');

		(void)symbol_table_add_perf_map(table, line);
		line = end ? end + 1 : NULL;
	}
}

static void read_map(struct jit_names *names, uint32_t pid)
{
	struct stat status;
	CLEANUP_FD int fd = open_map(pid, &status);

	if (fd < 0 || status.st_size == names->read)
		return;
	symbol_table_release(&names->table);
	add_lines(&names->table, fd, (size_t)status.st_size);
	names->read = status.st_size;
}

const char *jit_names_find(struct jit_names *names, uint32_t pid, uint64_t address)
{
	const struct symbol *symbol = symbol_table_find(&names->table, address);

	if (!symbol && names->is_new) {
		names->is_new = false;
		read_map(names, pid);
		symbol = symbol_table_find(&names->table, address);
	}
	return symbol ? symbol_table_name(&names->table, symbol) : NULL;
}
