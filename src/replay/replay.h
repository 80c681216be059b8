/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kepler replay FILE...`: books recordings again, with the options that were in effect or with
 * others, and prints what each process or container used.
 */
#pragma once

#include "options/option_set.h"

/* Its own options, in addition to the options of all commands. */
extern const struct option_set replay_options;
/*
 * The command. Returns the exit status: 0; 1: a file is damaged, or sums do not hold; 2: wrong use,
 * or a file that cannot be read at all.
 */
int replay_main(int argc, char *const *argv, char *const *environ_);
