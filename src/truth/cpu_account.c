// SPDX-License-Identifier: Apache-2.0
#include "truth/cpu_account.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

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
