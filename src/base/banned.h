/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that have a safer form in this tree; using one is a compile error that names it. Everything
 * includes this through base/macro.h.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * With _FORTIFY_SOURCE and clang the C library has macros of these names, and a macro cannot be
 * poisoned.
 */
#undef sprintf
#undef vsprintf
#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf strtok atoi atol atoll atof gets \
	gmtime localtime ctime asctime tmpnam mktemp
