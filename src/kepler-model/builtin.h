/* SPDX-License-Identifier: Apache-2.0 */
/* The command train-builtin: the models that are built into Kepler, made from published rows. */
#pragma once

#include "options/option_set.h"

extern const struct option_set builtin_options;

int train_builtin_main(int argc, char *const *argv, char *const *environ_);
