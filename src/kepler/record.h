/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kepler record FILE`: measures as the exporter does, serves nothing, and records each interval
 * for `kepler replay`.
 */
#pragma once

#include "options/option_set.h"

/* Its options, in addition to the options of all commands. */
extern const struct option_set record_options;
/* The command. Returns the exit status: 0 recorded, 1 not all of it, 2 wrong use. */
int record_main(int argc, char *const *argv, char *const *environ_);
