/* SPDX-License-Identifier: Apache-2.0 */
/* Options of all daemons: the privileges that they drop at their start. */
#pragma once

#include "base/diag.h"
#include "options/option.h"

#define SECURITY_OPTION_COUNT 1

struct security_values {
	char *user;
};

/* Rows over struct security_values. */
extern const struct option security_rows_of_options[SECURITY_OPTION_COUNT];

/*
 * Gives up all privileges, as run_as() does: before anything is read that others have written, and
 * before other threads are started. 0 or -errno with a diagnosis that names the option.
 */
int security_enter(const struct security_values *values, struct diag *diag);
