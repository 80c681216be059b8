/* SPDX-License-Identifier: Apache-2.0 */
/* An amount with a name, an item of a list option: "package-0=40". */
#pragma once

#define AMOUNT_NAME_MAX 32 /* with the terminator */

/* A name begins with a small letter: letters, digits, "_" and "-". */
struct named_amount {
	char name[AMOUNT_NAME_MAX];
	double amount;
};
