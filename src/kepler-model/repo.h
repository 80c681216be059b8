/* SPDX-License-Identifier: Apache-2.0 */
/* kepler-model repo COMMAND DIR: what a repository of models has. */
#pragma once

#include "options/option_set.h"

extern const struct option_set repo_options;
extern const char repo_usage[]; /* of its own commands, lines of help */

int repo_main(int argc, char *const *argv, char *const *environ_);
