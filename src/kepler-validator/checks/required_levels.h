/* SPDX-License-Identifier: Apache-2.0 */
/* The levels of --require. */
#pragma once

#include "base/diag.h"

/* The bits 1 << enum energy_level of @names. 0, or -EINVAL with a diagnosis: no such level. */
int required_levels_parse(char *const *names, size_t count, unsigned *ret, struct diag *diag);
