/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration file of a small part of YAML. */
#pragma once

#include <stddef.h>

#include "base/diag.h"
#include "options/option_set.h"

/*
 * Takes what @text says over what @values has. @name stands for the file in messages, which say
 * NAME:LINE:COLUMN and the key. 0, -EINVAL or -ENOMEM; some values are taken when it fails.
 */
int options_read_yaml(const struct option_set *set, struct option_values *values, const char *name,
		      const char *text, size_t len, struct diag *diag);
