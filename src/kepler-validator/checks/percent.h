/* SPDX-License-Identifier: Apache-2.0 */
/* An option's percentage, "5%", as a ratio; NAN for "". */
#pragma once

#include "base/diag.h"

/* 0, or -EINVAL: it is not a number from 0% to 1000%. */
int percent_parse(const char *text, double *ret_ratio);
/* The same as the check of an option, with a diagnosis. */
int percent_check(const char *text, struct diag *diag);
