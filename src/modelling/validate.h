/* SPDX-License-Identifier: Apache-2.0 */
/* The commands validate (one model) and compare (several) on rows of a file. */
#pragma once

#include "options/option_set.h"

extern const struct option_set validate_options;

int validate_main(int argc, char *const *argv, char *const *environ_);
int compare_main(int argc, char *const *argv, char *const *environ_);
