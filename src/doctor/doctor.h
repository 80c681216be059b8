/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kepler doctor`: what this machine has, what was chosen, what is missing, why, and the one
 * command or setting that would get it. Text for people, --json for machines.
 */
#pragma once

#include "config/config.h"
#include "doctor/findings.h"
#include "doctor/redaction.h"

/* The recording made meanwhile, as `kepler record --record.anonymize` has it. */
struct doctor_recording {
	int fd; /* where it is written, from its beginning; borrowed */
	unsigned seconds;
	struct redaction *names; /* takes the names of meters and models that a user has chosen */
};

/*
 * Looks at the machine under @config: opens every source, measures for a second or as long as
 * @recording (NULL: none) takes, and closes them. NULL without memory.
 */
struct findings *doctor_examine(const struct config *config,
				const struct doctor_recording *recording);

/* Its options, in addition to the options of all commands. */
extern const struct option_set doctor_options;
/* The command: `kepler doctor [OPTION]...`. Returns the exit status. */
int doctor_main(int argc, char *const *argv, char *const *environ_);
