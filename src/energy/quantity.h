/* SPDX-License-Identifier: Apache-2.0 */
/* What is counted: the name and unit of a signal, or of anything else that rows have a sum of. */
#pragma once

#include <stdbool.h>

struct quantity {
	const char *name; /* "cpu_cycles": in metrics, options and recordings */
	/* Of a counter of rows, which has families of its own: */
	const char *counted; /* what is counted, in help texts: "instructions retired" */
	const char *unit;    /* "bytes"; NULL: a number of what is counted */
	bool is_event;       /* the kernel's hooks count it, and no counter of the processor */
};
