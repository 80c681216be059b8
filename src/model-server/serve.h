/* SPDX-License-Identifier: Apache-2.0 */
/* kepler-model serve DIR: a model server. */
#pragma once

#include "options/option_set.h"

extern const struct option_set serve_options;

int serve_main(int argc, char *const *argv, char *const *environ_);
