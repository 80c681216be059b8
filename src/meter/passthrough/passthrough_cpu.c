// SPDX-License-Identifier: Apache-2.0
/*
 * Windows are long, because a record arrives some time after its interval's end, and the kernel
 * counts in ticks.
 */
#include "meter/passthrough/passthrough_cpu.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"

#define WINDOW_NS  (60 * NSEC_PER_SEC)
#define OWN_MIN_US 3000000 /* in a window: less is too coarse */
#define US_PER_S   1000000

int passthrough_own_cpu(const char *procfs, uint64_t *ret_us)
{
	/* user, nice, system, idle, iowait, irq, softirq: which of them are work? */
	static const bool is_work[] = { true, true, true, false, false, true, true };
	CLEANUP_FD int fd = -1;
	uint64_t ticks = 0;
	char path[4096], text[512], *at;
	ssize_t len;
	int r = path_join(path, sizeof(path), procfs, "stat");

	if (r < 0)
		return r;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (len < 0)
		return -errno;
	text[len] = '\0';
	if (strncmp(text, "cpu ", 4) != 0)
		return -EBADMSG;
	at = text + 4;
	for (size_t i = 0; i < ARRAY_SIZE(is_work); i++) {
		char *after;
		uint64_t value = strtoull(at, &after, 10);

		if (after == at)
			return -EBADMSG;
		ticks += is_work[i] ? value : 0;
		at = after;
	}
	*ret_us = ticks * (US_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
	return 0;
}

void passthrough_cpu_compare(struct passthrough_cpu *cpu, uint64_t now_ns, uint64_t host_us,
			     uint64_t own_us)
{
	if (cpu->has_begun && now_ns - cpu->begun_ns < WINDOW_NS)
		return;
	if (cpu->has_begun && own_us >= cpu->own_us + OWN_MIN_US) {
		cpu->compared_host_us = host_us - cpu->host_us;
		cpu->compared_own_us = own_us - cpu->own_us;
	} else {
		cpu->compared_host_us = cpu->compared_own_us = 0;
	}
	cpu->has_begun = true;
	cpu->begun_ns = now_ns;
	cpu->host_us = host_us;
	cpu->own_us = own_us;
}

bool passthrough_is_empty(struct passthrough_empty *empty, bool has_energy, uint64_t own_us)
{
	if (has_energy || !empty->has_begun)
		*empty = (struct passthrough_empty){ !has_energy, own_us };
	return empty->has_begun && own_us >= empty->begun_us + PASSTHROUGH_EMPTY_US;
}

double passthrough_cpu_deviation(uint64_t host_us, uint64_t own_us)
{
	return own_us ? (double)host_us / (double)own_us - 1 : (double)NAN;
}
