/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A strict reader of the text formats, written from their descriptions, not from our writer: for
 * the tests to hold one against the other.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PARSED_LABELS_MAX  16
#define PARSED_VALUE_MAX   1100
#define PARSED_NUMBERS_MAX 512

struct parsed_label {
	char name[64];
	char value[PARSED_VALUE_MAX]; /* unescaped */
};

struct parsed_sample {
	char name[128];
	char family[128]; /* of the TYPE line before it */
	char type[16];
	struct parsed_label labels[PARSED_LABELS_MAX];
	size_t label_count;
	const char *line;               /* where it stands in the text */
	size_t key_len;                 /* bytes of name and labels */
	char value[PARSED_NUMBERS_MAX]; /* of a histogram of OpenMetrics 2.0 what is in braces */
	char start[32];                 /* 2.0, too: the number after st@, or "" */
};

typedef void parsed_visitor(void *userdata, const struct parsed_sample *sample);

/*
 * Visits each sample. -1 and a message on stderr at the first thing that is not right; else the
 * number of samples. @openmetrics: its version, 1 or 2; 0: Prometheus' text format.
 */
long exposition_parse(const char *text, size_t len, unsigned openmetrics, parsed_visitor *visit,
		      void *userdata);
/* The value of a label, or NULL. */
const char *parsed_label(const struct parsed_sample *sample, const char *name);
/* A decimal number as millionths; false if it is not one or has more than six decimals. */
bool parsed_micros(const char *text, uint64_t *ret);
