/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Includes for every unit test: cmocka with the headers that it demands, and the parts of the C
 * library that most tests use. A test includes the header that it tests first, and this one last.
 */
#pragma once

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"

/* Most tests have no use for their state. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Runs @tests, an array, and reports in TAP: how many have failed, which is main()'s result. */
#define unit_run(tests)                                                                            \
	(cmocka_set_message_output(CM_OUTPUT_TAP), cmocka_run_group_tests(tests, NULL, NULL))
