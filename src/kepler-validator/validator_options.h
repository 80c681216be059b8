/* SPDX-License-Identifier: Apache-2.0 */
/* The base of each command's options: where its file of options is. */
#pragma once

#include "options/option_set.h"

extern const struct option_program validator_program;
/* The base of each command's set, whose struct begins with a struct option_values. */
extern const struct option_set validator_options;
