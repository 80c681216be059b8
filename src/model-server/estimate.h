/* SPDX-License-Identifier: Apache-2.0 */
/* kepler-model estimate DIR: the estimator, which Kepler asks through a unix socket. */
#pragma once

#include "options/option_set.h"

extern const struct option_set estimate_options;

int estimate_main(int argc, char *const *argv, char *const *environ_);
