/* SPDX-License-Identifier: Apache-2.0 */
/* Contradictions of one kind: how many, and the first of them as a text. */
#pragma once

#include <stdint.h>

struct exporter_fault {
	uint64_t count;
	char example[256];
};

/* Counts one more; the text is kept if it is the first. */
void exporter_fault_note(struct exporter_fault *fault, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
