/* SPDX-License-Identifier: Apache-2.0 */
/* The command line and the environment. */
#pragma once

#include "base/diag.h"
#include "options/option_set.h"

/*
 * Override values of @values. Messages name the flag or the variable. 0, -EINVAL or -ENOMEM; some
 * values are changed even when it fails.
 */
int options_read_flags(const struct option_set *set, struct option_values *values, int argc,
		       char *const *argv, struct diag *diag);
/* @environ_: "NAME=VALUE" strings, NULL-terminated; NULL: none. */
int options_read_environment(const struct option_set *set, struct option_values *values,
			     char *const *environ_, struct diag *diag);
