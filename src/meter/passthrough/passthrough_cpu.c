// SPDX-License-Identifier: Apache-2.0
/*
 * Windows are long, because a record arrives some time after its interval's end, and the kernel
 * counts in ticks.
 */
#include "meter/passthrough/passthrough_cpu.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/num.h"

#define WINDOW_NS  (60 * NSEC_PER_SEC)
#define OWN_MIN_US 3000000 /* in a window: less is too coarse */
#define US_PER_S   1000000

int passthrough_own_cpu(const char *procfs, uint64_t *ret_us)
{
	uint64_t user, nice, system, irq, softirq;
	CLEANUP_FD int fd = -1;
	char path[4096], text[512];
	ssize_t len;
	int r = path_join(path, sizeof(path), procfs, "stat");

	if (r < 0)
		return r;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (len < 0)
		return -errno;
	text[len] = '\0';
	if (sscanf(text,
		   "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %*u %*u %" SCNu64 " %" SCNu64 " %*u",
		   &user, &nice, &system, &irq, &softirq) != 5)
		return -EBADMSG;
	*ret_us = (user + nice + system + irq + softirq) *
		  (US_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
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

double passthrough_cpu_deviation(uint64_t host_us, uint64_t own_us)
{
	return own_us ? (double)host_us / (double)own_us - 1 : (double)NAN;
}
