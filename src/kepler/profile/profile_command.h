/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kepler profile`: which functions used the joules of a command, a process, a container, a pod or
 * the machine? Stacks, with their energy in microjoules.
 */
#pragma once

#include "options/option_set.h"

extern const struct option_set profile_options;

int profile_main(int argc, char *const *argv, char *const *environ_);
