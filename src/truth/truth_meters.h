/* SPDX-License-Identifier: Apache-2.0 */
/* The meters of a machine, and the zones that they measure: types only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "judging/series.h"

#define TRUTH_METERS_MAX 256
#define TRUTH_ZONES_MAX  16
#define TRUTH_KIND_MAX   32
#define TRUTH_PATH_MAX   512

enum truth_source {
	TRUTH_AUTO, /* rapl-sysfs, else acpi, else none */
	TRUTH_NONE,
	TRUTH_RAPL_SYSFS,
	TRUTH_HWMON,
	TRUTH_ACPI,
	TRUTH_FILE,
};

/* One file with a number. */
struct truth_meter {
	char kind[TRUTH_KIND_MAX];
	char path[TRUTH_PATH_MAX];
	bool is_power;     /* else a counter of energy */
	double unit;       /* W or J of 1 in the file */
	uint64_t range;    /* a counter's largest value, after which comes 0; 0: not known */
	double last;       /* of a power: in W */
	uint64_t last_raw; /* of a counter */
	double joules;     /* since the first reading */
	bool has_last;
	uint64_t wraps, failures;
};

/* All meters of one kind together. */
struct truth_zone {
	char kind[TRUTH_KIND_MAX];
	struct series *series; /* W */
};

struct truth {
	enum truth_source source; /* TRUTH_NONE: the machine has none that can be read */
	double error;
	struct truth_meter meters[TRUTH_METERS_MAX];
	size_t meter_count;
	struct truth_zone zones[TRUTH_ZONES_MAX];
	size_t zone_count;
	uint64_t readings, skipped;        /* skipped: a meter could not be read */
	char failure[TRUTH_PATH_MAX + 64]; /* the last one; "": none */
	double last_s;
};
