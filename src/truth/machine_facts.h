/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The facts of the machine that a reader needs to repeat a report: processor, microcode, kernel,
 * frequency governor, idle states, memory. A fact that the machine does not give is left out.
 */
#pragma once

#include <stddef.h>

#define MACHINE_FACTS_MAX 16
#define MACHINE_FACT_MAX  160

struct machine_fact {
	const char *name; /* "kernel" */
	char value[MACHINE_FACT_MAX];
};

struct machine_facts {
	struct machine_fact items[MACHINE_FACTS_MAX];
	size_t count;
};

/* Reads below @sysfs ("/sys") and @procfs ("/proc"). */
void machine_facts_read(const char *sysfs, const char *procfs, struct machine_facts *ret);
