/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Words for the values of an option. A room whose values have names has them in this form, so that
 * options of any command can take them.
 */
#pragma once

struct option_choice {
	const char *name; /* NULL ends the list */
	int value;        /* a duration's: -1 is UINT64_MAX */
};
