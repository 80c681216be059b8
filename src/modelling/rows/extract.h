/* SPDX-License-Identifier: Apache-2.0 */
/* "kepler-model extract": series that were collected → rows that a model is trained on, as CSV. */
#pragma once

#include "options/option_set.h"

extern const struct option_set extract_command_options;

/* @argv follows the command's name. Returns the exit status. */
int extract_main(int argc, char *const *argv, char *const *environ_);
