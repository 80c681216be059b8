/* SPDX-License-Identifier: Apache-2.0 */
/* "kepler-model stress": loads of stress-ng, so that there is something to train a model on. */
#pragma once

#include "options/option_set.h"

extern const struct option_set stress_command_options;

/* @argv follows the command's name. Returns the exit status. */
int stress_main(int argc, char *const *argv, char *const *environ_);
