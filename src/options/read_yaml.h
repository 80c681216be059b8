/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration file of a small part of YAML. */
#pragma once

#include <stddef.h>

#include "base/diag.h"
#include "options/option_set.h"

/*
 * Overrides values of @values with those in @text. @name stands for the file in messages, which
 * have NAME:LINE:COLUMN and the key; each wrong key and value has one, see diag_add(). 0, -EINVAL
 * or -ENOMEM; some values are changed even when it fails.
 */
int options_read_yaml(const struct option_set *set, struct option_values *values, const char *name,
		      const char *text, size_t len, struct diag *diag);
