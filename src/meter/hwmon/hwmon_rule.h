/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The zones that sensors of hwmon chips measure, known by the chip's name and the sensor's label.
 * Pure.
 *
 * The files are those of Linux: Documentation/hwmon/sysfs-interface.rst. A channel is one sensor
 * with its files: power1 is power1_input, power1_average and power1_label. What a chip measures is
 * the driver's to say for a processor or an accelerator, and the board's for a monitor of voltage
 * and current: of such a chip nothing is counted unless a rule of the user says what it is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "energy/zone.h"

#define HWMON_NAME_MAX  48 /* of a chip or a device, with the terminator; longer ones are cut */
#define HWMON_LABEL_MAX 64
#define HWMON_KEY_MAX   (2 * HWMON_NAME_MAX + 16) /* "power_meter@ACPI000D:00/power1" */

/* How a channel is read. */
enum hwmon_reading {
	HWMON_ENERGY,  /* energyN_input, µJ: a counter that never wraps */
	HWMON_AVERAGE, /* powerN_average, µW */
	HWMON_POWER,   /* powerN_input, µW */
	HWMON_PRODUCT, /* inN_input × currN_input, mV × mA = µW */
	HWMON_READINGS,
};

/*
 * The extent that an ACPI power meter measures, the most reliable source first (ACPI 6.5, 10.4:
 * _PMD, which the kernel shows as links in "measures"; the meter's place in the namespace, "path").
 */
enum hwmon_extent {
	HWMON_OF_MACHINE = -2, /* all of it: the firmware says so */
	HWMON_AT_ROOT = -1,    /* it says nothing, and the meter belongs to no device */
	HWMON_UNSAID = 0,      /* it says nothing; also of all other chips */
	HWMON_OF_DEVICES = 1,  /* devices that are not all of the machine */
};

struct hwmon_channel {
	char chip[HWMON_NAME_MAX];   /* "power_meter" */
	char device[HWMON_NAME_MAX]; /* "ACPI000D:00"; "" where the chip has none */
	char label[HWMON_LABEL_MAX]; /* without blanks around it; "" if it has none */
	unsigned number;
	enum hwmon_extent extent;
	bool has[HWMON_READINGS]; /* its files; only one of energy, power and product at a time */
};

enum hwmon_use {
	HWMON_COUNTED, /* as a zone */
	HWMON_PART,    /* not: its energy is in another channel of the chip, or another source's */
	HWMON_BOARD,   /* not: what it measures depends on the board */
	HWMON_DEVICES, /* not: it measures devices of the machine, and not all of it */
	HWMON_UNKNOWN, /* not: no rule names it */
	HWMON_UNUSED,  /* not: the user says so */
};

struct hwmon_meaning {
	enum hwmon_use use;
	/* With HWMON_COUNTED: */
	enum hwmon_reading reading;
	enum zone_kind kind;
	char instance[ZONE_INSTANCE_MAX];
	bool has_gpus; /* of a psys: GPUs are in it */
	bool by_order; /* in place of an instance: the next number that zones of the kind lack */
};

/* "energy3", "power1", or "in2" of a product. */
void hwmon_channel_name(const struct hwmon_channel *channel, char *buf, size_t size);
/* CHIP@DEVICE/CHANNEL: identifies it for as long as the machine is built as it is. */
void hwmon_channel_key(const struct hwmon_channel *channel, char ret[HWMON_KEY_MAX]);
/* "energyN", … of a file's name; false if no energy is read from such a file. */
bool hwmon_file_parse(const char *name, enum hwmon_reading *ret_reading, bool *ret_is_current,
		      unsigned *ret_number);
/*
 * The zone that @channel measures. Rules of the user, CHIP[@DEVICE]/CHANNEL=ZONE or =none, are
 * asked first; CHANNEL is its name or its label.
 */
struct hwmon_meaning hwmon_meaning_of(const struct hwmon_channel *channel, char *const *rules,
				      size_t rule_count);
/* Checks a rule: 0, or -EINVAL with a diagnosis. */
int hwmon_rule_check(const char *rule, struct diag *diag);
