/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan of a stress run: each load with each number of instances at each highest frequency, so
 * that samples span what a machine can do. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define STRESS_LOADS_MAX       32
#define STRESS_LOAD_KEYS_MAX   8
#define STRESS_NAME_MAX        64
#define STRESS_FREQUENCIES_MAX 32
#define STRESS_INSTANCES_MAX   64
#define STRESS_CPUS_MAX        8192

/* "vm-rw;vm-rw-bytes,vm-rw-ops;4G,1000": a stressor of stress-ng, and its options. */
struct stress_load {
	char name[STRESS_NAME_MAX];
	char keys[STRESS_LOAD_KEYS_MAX][STRESS_NAME_MAX];
	char values[STRESS_LOAD_KEYS_MAX][STRESS_NAME_MAX];
	size_t key_count;
};

struct stress_plan {
	struct stress_load loads[STRESS_LOADS_MAX];
	size_t load_count;
	uint64_t frequencies_khz[STRESS_FREQUENCIES_MAX]; /* 0: as it is */
	size_t frequency_count;
	uint32_t instances[STRESS_INSTANCES_MAX];
	size_t instance_count;
	uint64_t step_ms, pause_ms, idle_ms;
};

struct stress_step {
	const struct stress_load *load;
	uint64_t frequency_khz;
	uint32_t instances;
};

/* 0, or -EINVAL with a diagnosis. */
int stress_load_parse(const char *text, struct stress_load *ret, struct diag *diag);
/* 1, 2, 4, 8, 16, and on by 8 up to the CPUs and 8 more, as far as there is room. */
void stress_plan_default_instances(struct stress_plan *plan, uint32_t cpus);
/* From @min_khz and 800 MHz on by 800 MHz, and @max_khz. */
void stress_plan_default_frequencies(struct stress_plan *plan, uint64_t min_khz, uint64_t max_khz);
/* Steps without the idle time before the first. */
size_t stress_plan_steps(const struct stress_plan *plan);
/* Step @index: frequencies change least, loads most often. */
struct stress_step stress_plan_step(const struct stress_plan *plan, size_t index);
uint64_t stress_plan_ms(const struct stress_plan *plan);
