/* SPDX-License-Identifier: Apache-2.0 */
/* The options of the command line of builtin-models. */
#pragma once

#include <stdbool.h>

struct builtin_config {
	const char *write, *expect; /* files; "": none */
	const char *date;
	bool table, refit;
};
