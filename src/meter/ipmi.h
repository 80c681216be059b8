/* SPDX-License-Identifier: Apache-2.0 */
/* The source ipmi: the machine's power, asked from its BMC through the kernel's device. */
#pragma once

#include <stdint.h>

struct meter_ops;
extern const struct meter_ops ipmi_meter;

struct ipmi_system; /* bmc/ipmi_device.h */
struct ipmi_options {
	char *device;                     /* "/dev/ipmi0"; NULL or "": none; borrowed */
	uint64_t period_ns;               /* 0: 5 s */
	const struct ipmi_system *system; /* NULL: the real one; a test has its own */
};
