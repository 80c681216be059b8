/* SPDX-License-Identifier: Apache-2.0 */
/* kepler-model export MODEL… : trained models become a part of a repository. */
#pragma once

#include "options/option_set.h"

extern const struct option_set export_options;

int export_main(int argc, char *const *argv, char *const *environ_);
