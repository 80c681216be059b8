/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The translation of each key of another Kepler: of classic Kepler (up to 0.9), in capitals, and of
 * current Kepler (from 0.10), as the path in its YAML.
 */
#pragma once

#include <stddef.h>

enum import_form {
	IMPORT_NOTHING, /* there is no such option here */
	IMPORT_COPY,    /* the same value, or list */
	IMPORT_BOOL,    /* classic's: "true" in any case is true, all else false */
	IMPORT_SECONDS, /* a number of seconds, as a duration */
	IMPORT_WORDS,   /* by .words */
	IMPORT_SYSFS,   /* the same value; cgroups are below it */
	IMPORT_SERVER,  /* a part of the model server's URL, which .part says */
};

enum import_part { IMPORT_SERVER_ENABLE, IMPORT_SERVER_URL, IMPORT_SERVER_PORT, IMPORT_PARTS };

struct import_row {
	const char *key;
	const char *option; /* ours; NULL: none */
	enum import_form form;
	enum import_part part;
	/* "true=always false=never"; after "=" nothing: what it asks for is so without an option */
	const char *words;
	/* Values that ask for nothing that is not so here, separated by spaces; "*": all of them */
	const char *needless;
	const char *why; /* without an option: the reason, and the closest option */
};

/* The earlier of two rows with the same option is followed. */
extern const struct import_row import_rows[];
extern const size_t import_row_count;
