// SPDX-License-Identifier: Apache-2.0
/*
 * A line of /proc/PID/stat, whose name its process chose, and the same bytes as /proc/stat: a name
 * is terminated, and no CPU is counted that has no line.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "activity/machine_time.h"
#include "host/proc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct machine_time machine;
	struct proc_stat process;

	if (proc_stat_parse(text, size, &process) == 0 &&
	    strnlen(process.comm, sizeof(process.comm)) == sizeof(process.comm))
		abort();
	/* Each CPU has a line of its own. */
	if (machine_time_parse(text, size, 10000000, &machine) == 0 && machine.cpus > size / 4)
		abort();
	return 0;
}
