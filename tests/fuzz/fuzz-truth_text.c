// SPDX-License-Identifier: Apache-2.0
/* Texts that the validator reads meters by: events of perf, lists of CPUs, cpuinfo, and a law. */
#include <stdlib.h>
#include <string.h>

#include "truth/meters/law_meter.h"
#include "truth/meters/perf_meter.h"
#include "truth/meters/rapl_registers.h"

#define CPUS 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_perf(const char *text)
{
	unsigned cpus[CPUS];
	uint64_t config;
	double joules;

	if (truth_perf_event_parse(text, &config) && config > UINT8_MAX)
		abort();
	if (truth_perf_scale_parse(text, "Joules\n", &joules) && !(joules > 0 && joules <= 1))
		abort();
	size_t count = truth_cpu_list_parse(text, cpus, CPUS);
	if (count > CPUS)
		abort();
	for (size_t i = 0; i < count; i++)
		if (cpus[i] > UINT16_MAX)
			abort();
}

static void check_processor(const char *text)
{
	struct rapl_processor processor;
	struct truth_registers registers;

	if (!truth_processor_parse(text, &processor) ||
	    !truth_registers_find(&processor, &registers))
		return;
	for (size_t i = 0; i < registers.count; i++) {
		double joules =
			truth_register_unit(&processor, registers.items[i].kind, UINT64_MAX);

		if (!(joules > 0))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct diag diag = { "" };
	struct truth_law law;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	check_perf(text);
	check_processor(text);
	if (truth_law_parse(text, &law, &diag) < 0 ? !diag.text[0]
						   : !law.zone[0] || !(law.idle_w + law.cpu_w > 0))
		abort();
	free(text);
	return 0;
}
