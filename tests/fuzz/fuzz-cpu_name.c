// SPDX-License-Identifier: Apache-2.0
/* The name of a CPU, as the platform model reads it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/processor/cpu_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct cpu_name cpu;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	cpu_name_read(text, &cpu);
	if (!memchr(cpu.key, '\0', sizeof(cpu.key)) || cpu.segment >= CPU_SEGMENT_COUNT ||
	    (cpu.tdp_w && !cpu.key[0]))
		abort();
	free(text);
	return 0;
}
