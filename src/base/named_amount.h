/* SPDX-License-Identifier: Apache-2.0 */
/* An amount and what it is of: "package-0=40", in a list of options. */
#pragma once

#define AMOUNT_NAME_MAX 32 /* with the terminator */

/* A name begins with a small letter: letters, digits, "_" and "-". */
struct named_amount {
	char name[AMOUNT_NAME_MAX];
	double amount;
};
