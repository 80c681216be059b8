/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The family of a processor, out of its name as node types have it ("intel_xeon_platinum_8380"):
 * vendor, line and generation, read word by word by the vendors' rules of naming. Pure.
 */
#pragma once

#include <stdbool.h>

#define FAMILY_WORD_MAX 24

/* Each is "" if the name lacks it. */
struct processor_family {
	char vendor[FAMILY_WORD_MAX];     /* "intel" */
	char line[FAMILY_WORD_MAX];       /* "scalable", "e5", "epyc" */
	char generation[FAMILY_WORD_MAX]; /* "3"; of E3, E5 and E7 "1" without a version */
};

void processor_family_of(const char *processor, struct processor_family *ret);
/* Vendor and line are known and equal. */
bool processor_family_same_line(const struct processor_family *a, const struct processor_family *b);
/* And the generation, too. */
bool processor_family_same(const struct processor_family *a, const struct processor_family *b);
