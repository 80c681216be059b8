/* SPDX-License-Identifier: Apache-2.0 */
/* kepler-model repo COMMAND DIR: lists, verifies and copies the models of a repository. */
#pragma once

#include "options/option_set.h"

extern const struct option_set repo_options;
extern const char repo_usage[]; /* help for its own commands */

int repo_main(int argc, char *const *argv, char *const *environ_);
