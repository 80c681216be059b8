// SPDX-License-Identifier: Apache-2.0
#include "truth/cpu_account.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"

double cpu_account_busy_s(const char *procfs)
{
	char path[512], text[256];
	uint64_t user, nice, system, irq, softirq;

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
	if (sscanf(text, "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %*u %*u %" SCNu64 " %" SCNu64,
		   &user, &nice, &system, &irq, &softirq) != 5)
		return -1;
	return (double)(user + nice + system + irq + softirq) / (double)sysconf(_SC_CLK_TCK);
}
