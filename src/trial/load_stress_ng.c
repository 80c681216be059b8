// SPDX-License-Identifier: Apache-2.0
#include "trial/load_stress_ng.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "trial/load_program.h"
#include "trial/load_worker.h"

#define OUTPUT_MAX 16384

uint64_t stress_ng_operations(const char *text, const char *stressor)
{
	size_t len = strlen(stressor);
	uint64_t operations = 0;

	/* stress-ng: metrc: [26242] cpu     1449      2.96 … */
	for (const char *at = text; (at = strstr(at, "] ")); at++) {
		const char *name = at + 2;

		if (strncmp(name, stressor, len) != 0 || name[len] != ' ')
			continue;
		name += len + strspn(name + len, " ");
		if (parse_u64(name, strspn(name, "0123456789"), &operations) == 0)
			return operations;
	}
	return 0;
}

static void run_stressor(const struct load_worker *worker, const char *stressor)
{
	char option[32], count[16], output[OUTPUT_MAX];
	char *const argv[] = { (char[]){ "stress-ng" }, option, count,
			       (char[]){ "--metrics-brief" }, NULL };
	struct load_program program = { 0 };

	(void)snprintf(option, sizeof(option), "--%s", stressor);
	(void)snprintf(count, sizeof(count), "%.0f", worker->cpus);
	if (load_program_start(argv, &program) < 0)
		return;
	while (!load_worker_is_over())
		load_worker_sleep_until(UINT64_MAX);
	if (load_program_stop(&program, output, sizeof(output)) > 0)
		atomic_fetch_add_explicit(&worker->work->units,
					  stress_ng_operations(output, stressor),
					  memory_order_relaxed);
}

static void run_cpu(const struct load_worker *worker)
{
	run_stressor(worker, "cpu");
}

static void run_matrix(const struct load_worker *worker)
{
	run_stressor(worker, "matrix");
}

static void run_stream(const struct load_worker *worker)
{
	run_stressor(worker, "stream");
}

static void run_cache(const struct load_worker *worker)
{
	run_stressor(worker, "cache");
}

#define STRESSOR(stressor)                                                                         \
	{                                                                                          \
		.name = "stress-ng " #stressor, .unit = "bogo operations", .program = "stress-ng", \
		.without = "stress-ng is not installed; Debian has it in the package stress-ng.",  \
		.is_one_worker = true, .duty = 1, .run = run_##stressor                            \
	}

const struct load_kind load_stress_cpu = STRESSOR(cpu);
const struct load_kind load_stress_matrix = STRESSOR(matrix);
const struct load_kind load_stress_stream = STRESSOR(stream);
const struct load_kind load_stress_cache = STRESSOR(cache);
