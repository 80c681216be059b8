/* SPDX-License-Identifier: Apache-2.0 */
/* A quantity: the name and unit of a signal, or of anything else that rows have a sum of. */
#pragma once

#include <stdbool.h>

struct quantity {
	const char *name; /* "cpu_cycles": in metrics, options and recordings */
	/* For a counter of rows, which has its own metric families: */
	const char *counted; /* what is counted, in help texts: "instructions retired" */
	const char *unit;    /* "bytes"; NULL: the number of counted things */
	bool is_event;       /* the kernel's hooks count it, not a counter of the processor */
};
