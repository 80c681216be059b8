/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kepler doctor`: what this machine has, what was chosen, what is missing, why, and the one
 * command or setting that would get it. Text for people, --json for machines.
 */
#pragma once

#include "kepler/config.h"
#include "kepler/findings.h"

/* Looks at the machine under @config: opens every source, measures for a second, closes them. */
struct findings *doctor_examine(const struct config *config);

/* Its own options, beside those of all commands. */
extern const struct option_set doctor_options;
/* The command: `kepler doctor [OPTION]...`. Returns the exit status. */
int doctor_main(int argc, char *const *argv, char *const *environ_);
