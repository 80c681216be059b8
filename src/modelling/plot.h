/* SPDX-License-Identifier: Apache-2.0 */
/* kepler-model plot: a model on samples, as a page of HTML with charts. */
#pragma once

#include "options/option_set.h"

extern const struct option_set plot_options;

int plot_main(int argc, char *const *argv, char *const *environ_);
