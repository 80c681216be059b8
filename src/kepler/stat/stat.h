/* SPDX-License-Identifier: Apache-2.0 */
/* `kepler stat`: the energy of one command and of all that it starts. docs/stat.md. */
#pragma once

#include "options/option_set.h"

extern const struct option_set stat_options;

int stat_main(int argc, char *const *argv, char *const *environ_);
