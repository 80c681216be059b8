/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The learned costs of a zone (power_owners.h) as lines of text for the state file, and back. The
 * first line has the coefficients and how well they predict, the second the sums, and each further
 * one an owner:
 *
 *     fit=1 signals=31 is_better=1 error_w2=0.04 … coefficient=0.9,0.5,0.7,0,0,0,1.2,4,20
 *     xx=… xy=… yy=…
 *     key=1234 factor=1.2 mean_w=8 power=… amount=… cross=… xx=…
 *
 * The file may be torn, old or hostile: keys stand in one order, each number must be finite and in
 * its range, and sums must be such as readings give, or all of it is refused.
 */
#pragma once

#include "attribution/learning/power_owners.h"

#define POWER_OWNERS_LINES    (2 + POWER_OWNERS)
#define POWER_OWNERS_LINE_MAX 2048 /* with the terminator */

/*
 * Line @index: its length, or -ENOSPC. 0: there is none, because nothing is learned, or because the
 * owner has done next to nothing in the last minutes.
 */
int power_owners_format(const struct power_owners *owners, size_t index, char *buf, size_t size);
/*
 * NULL for lines that there are not. 0, or -EINVAL for another version, a missing or unknown key,
 * or numbers that cannot be learned; *ret is written only on success.
 */
int power_owners_parse(const char *const line[POWER_OWNERS_LINES], struct power_owners *ret);
