/* SPDX-License-Identifier: Apache-2.0 */
/* "kepler-validator compare A B": compares a report with an earlier one. */
#pragma once

#include "options/option_set.h"

extern const struct option_set compare_options;

/* @argv is behind the command's name; the exit status. */
int compare_main(int argc, char *const *argv, char *const *environ_);
