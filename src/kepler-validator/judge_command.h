/* SPDX-License-Identifier: Apache-2.0 */
/* kepler-validator judge: is one series right, given another? From files alone. */
#pragma once

#include "options/option_set.h"

extern const struct option_set judge_options;

/* The exit status: of the verdict (judging/result.h), or 2 for options and files. */
int judge_main(int argc, char *const *argv, char *const *environ_);
