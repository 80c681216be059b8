// SPDX-License-Identifier: Apache-2.0
#include "truth/cpu_account.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/num.h"

#define RUN_TIME_FIELD 7

double cpu_account_busy_s(const char *procfs)
{
	char path[512], text[256];
	uint64_t ticks = 0;

	if (path_join(path, sizeof(path), procfs, "stat") < 0)
		return -1;
	/* Only the first line is wanted, of a file that is longer. */
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t len = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	if (len <= 0)
		return -1;
	text[len] = '\0';
	if (strncmp(text, "cpu ", 4) != 0)
		return -1;
	/* user, nice, system, idle, iowait, irq, softirq */
	const char *at = text + 4;
	for (int field = 0; field < 7; field++) {
		char *end;
		uint64_t value = strtoull(at, &end, 10);
		if (end == at)
			return -1;
		ticks += field == 3 || field == 4 ? 0 : value;
		at = end;
	}
	return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

/* The time that tasks ran: the seventh number of a line "cpuN …". */
static bool run_time_of(char *line, uint64_t *ret_ns)
{
	char *word = strsep(&line, " ");

	if (strncmp(word, "cpu", strlen("cpu")) != 0)
		return false;
	for (int field = 0; field < RUN_TIME_FIELD && line; field++)
		word = strsep(&line, " ");
	return line && parse_u64(word, strlen(word), ret_ns) == 0;
}

double cpu_account_task_s(const char *procfs)
{
	char path[512], line[1024];
	uint64_t sum_ns = 0;
	bool has_cpu = false;

	if (path_join(path, sizeof(path), procfs, "schedstat") < 0)
		return -1;
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		uint64_t run_ns;

		if (run_time_of(line, &run_ns)) {
			sum_ns += run_ns;
			has_cpu = true;
		}
	}
	if (file)
		(void)fclose(file);
	return has_cpu ? 1e-9 * (double)sum_ns : -1;
}
