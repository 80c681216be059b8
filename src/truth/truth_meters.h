/* SPDX-License-Identifier: Apache-2.0 */
/* The meters of a machine, and the zones that they measure: types only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "judging/series.h"

#define TRUTH_METERS_MAX  256
#define TRUTH_ZONES_MAX   16
#define TRUTH_KIND_MAX    32
#define TRUTH_PATH_MAX    512
#define TRUTH_DEVICES_MAX 64
#define TRUTH_UUID_MAX    96

enum truth_source {
	TRUTH_AUTO, /* the first of rapl-sysfs, perf, msr, acpi and ipmi that has a meter */
	TRUTH_NONE,
	TRUTH_RAPL_SYSFS,
	TRUTH_PERF,
	TRUTH_MSR,
	TRUTH_HWMON,
	TRUTH_ACPI,
	TRUTH_REDFISH,
	TRUTH_IPMI,
	TRUTH_FILE,
	TRUTH_LAW,
};

/* The service of a management controller, and how to log in to it. "" where it is not given. */
struct truth_redfish {
	const char *url; /* of the service, or of one chassis */
	const char *user, *password_file, *token_file;
	const char *ca_file;
	bool insecure;
};

struct truth_options {
	enum truth_source source;
	const char *sysfs, *procfs, *devices; /* "/sys", "/proc", "/dev" */
	const char *file;                     /* of TRUTH_FILE */
	const char *law;                      /* of TRUTH_LAW */
	const char *nvml;                     /* the library that reads GPUs; NULL: no GPUs */
	struct truth_redfish redfish;
};

/* The value of a meter: a count of energy, or a power, in the units of the meter. */
struct truth_value {
	uint64_t raw; /* of a counter */
	double power; /* of a meter that shows power */
	bool is_off;  /* the device of a counter reports that it draws nothing */
};

/* The time, in seconds of any epoch. */
struct truth_clock {
	double (*now_s)(const void *state);
	const void *state;
};

struct truth_meter;
/*
 * Reads @meter at @now_s. 0; 1 if it is not due yet, so that there is nothing new; or -errno with a
 * diagnosis.
 */
typedef int truth_read_fn(struct truth_meter *meter, double now_s, struct truth_value *ret,
			  struct diag *diag);

struct truth_meter {
	char kind[TRUTH_KIND_MAX];
	char path[TRUTH_PATH_MAX]; /* its name in reports */
	truth_read_fn *read;
	bool is_power;    /* else a counter of energy */
	double unit;      /* W or J of 1 in a reading */
	uint64_t range;   /* a counter's largest value, after which comes 0; 0: not known */
	double watts_max; /* more is impossible; 0: what a meter of its kind can measure */
	/* A device that exporters show by itself, too: its driver's number and name of it. */
	bool is_device;
	unsigned device_index;
	char uuid[TRUTH_UUID_MAX]; /* "": none */
	void *state;               /* of the source; released by @release, which may be NULL */
	void (*release)(void *state);
	double last_s, last; /* last: of a power, in W */
	uint64_t last_raw;   /* of a counter */
	double joules;       /* since the first reading */
	bool has_last;
	bool has_failed; /* since the last reading */
	/*
	 * resets: a counter went back although it cannot have wrapped, or its energy could not be
	 * drawn in the time; late: it was read so late that it may have wrapped more than once. The
	 * energy of these times is not known. stalls: failures of reads that did not return in
	 * time. still_s: for how long readings were equal, at most; a counter may be, while its
	 * device is off.
	 */
	uint64_t wraps, failures, resets, late, stalls;
	double still_s, still_now_s;
};

/* All meters of one kind together. */
struct truth_zone {
	char kind[TRUTH_KIND_MAX];
	struct series *series; /* W */
	double time_error_s;   /* the time of each sample is known to within so much */
	unsigned slow;         /* readings without a sample, since the last one */
	char doubt[256];       /* why it cannot be believed, a sentence; "": it can */
};

/* The energy of a single meter, which is in the zone of its kind as well. */
struct truth_device {
	size_t meter; /* of truth.meters, with is_device */
	struct truth_zone zone;
};

struct truth {
	enum truth_source source; /* TRUTH_NONE: the machine has none that can be read */
	double error;
	struct truth_meter meters[TRUTH_METERS_MAX];
	size_t meter_count;
	size_t left_out; /* meters beyond TRUTH_METERS_MAX, or of a kind beyond TRUTH_ZONES_MAX */
	struct truth_zone zones[TRUTH_ZONES_MAX];
	size_t zone_count;
	struct truth_device devices[TRUTH_DEVICES_MAX];
	size_t device_count;
	/*
	 * The first place that gave the search for meters, or the one for GPUs, no answer in time,
	 * so that meters may be missing; "": none.
	 */
	char stalled[TRUTH_PATH_MAX], gpu_stalled[TRUTH_PATH_MAX];
	bool is_searching_gpus;
	uint64_t readings, skipped; /* skipped: a meter could not be read */
	struct diag failure;        /* the last one; "": none */
};
