/* SPDX-License-Identifier: Apache-2.0 */
/* "kepler-model collect": series of exporters from a Prometheus to a file. */
#pragma once

#include "options/option_set.h"

extern const struct option_set collect_command_options;

/* @argv follows the command's name. Returns the exit status. */
int collect_main(int argc, char *const *argv, char *const *environ_);
