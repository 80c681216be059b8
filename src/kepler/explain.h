/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kepler explain WHAT`: asks the exporter that runs on this machine how a number came about, at
 * the first address of web.listen-address that answers. Measures nothing itself.
 */
#pragma once

#include "options/option_set.h"

/* Exit statuses. */
#define EXPLAIN_EXIT_FOUND       0
#define EXPLAIN_EXIT_NOT_FOUND   1
#define EXPLAIN_EXIT_USAGE       2
#define EXPLAIN_EXIT_UNREACHABLE 3 /* or its answer cannot be printed */

/* Its options, in addition to the options of all commands. */
extern const struct option_set explain_options;
/* The command: `kepler explain WHAT [OPTION]...`. Returns the exit status. */
int explain_main(int argc, char *const *argv, char *const *environ_);
