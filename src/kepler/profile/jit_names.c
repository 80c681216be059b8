// SPDX-License-Identifier: Apache-2.0
#include "kepler/profile/jit_names.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "kepler/profile/root_file.h"

#define MAP_BYTES_MAX (32 << 20)

void jit_names_release(struct jit_names *names)
{
	symbol_table_release(&names->table);
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

static FILE *open_map(uint32_t pid, struct stat *ret)
{
	char path[64];
	struct stat process;
	FILE *file;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%u", pid);
	if (stat(path, &process) < 0)
		return NULL;
	(void)snprintf(path, sizeof(path), "/tmp/perf-%u.map", own_pid(pid));
	fd = root_file_open(pid, path, ret);
	if (fd < 0)
		return NULL;
	file = ret->st_size <= MAP_BYTES_MAX && (ret->st_uid == process.st_uid || ret->st_uid == 0)
		       ? fdopen(fd, "r")
		       : NULL;
	if (!file)
		(void)close(fd);
	return file;
}

static void read_map(struct jit_names *names, uint32_t pid)
{
	struct stat status;
	FILE *file = open_map(pid, &status);
	char *line = NULL;
	size_t size = 0;

	if (!file)
		return;
	if (status.st_size != names->read) {
		symbol_table_release(&names->table);
		while (getline(&line, &size, file) > 0)
			(void)symbol_table_add_perf_map(&names->table, line);
		names->read = status.st_size;
	}
	free(line);
	(void)fclose(file);
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
