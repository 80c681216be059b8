/* SPDX-License-Identifier: Apache-2.0 */
/* "kepler-model isolate": rows with the dynamic power only. */
#pragma once

#include "options/option_set.h"

extern const struct option_set isolate_command_options;

/* @argv follows the command's name. Returns the exit status. */
int isolate_main(int argc, char *const *argv, char *const *environ_);
