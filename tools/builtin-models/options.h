/* SPDX-License-Identifier: Apache-2.0 */
/* What the command line of builtin-models says. */
#pragma once

#include <stdbool.h>

struct builtin_config {
	const char *write, *expect; /* files; "": none */
	const char *date;
	bool table, refit;
};
