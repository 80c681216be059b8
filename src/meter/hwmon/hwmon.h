/* SPDX-License-Identifier: Apache-2.0 */
/* The source hwmon: sensors of energy and power in /sys/class/hwmon. */
#pragma once

#include <stddef.h>

struct meter_ops;
extern const struct meter_ops hwmon_meter;

#define HWMON_RULES_MAX 32
struct hwmon_options {
	char *rules[HWMON_RULES_MAX]; /* meter/hwmon/hwmon_rule.h; borrowed */
	size_t rule_count;
};
