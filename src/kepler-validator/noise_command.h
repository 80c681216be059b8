/* SPDX-License-Identifier: Apache-2.0 */
/* The command "noise": how noisy are this machine's own energy counters? */
#pragma once

#include "options/option_set.h"

extern const struct option_set noise_options;

int noise_main(int argc, char *const *argv, char *const *environ_);
