/* SPDX-License-Identifier: Apache-2.0 */
/* The source rapl-msr: RAPL's registers, read through the msr driver only by request. */
#pragma once

#include <stdbool.h>

struct meter_ops;
extern const struct meter_ops rapl_msr_meter;

struct rapl_msr_options {
	char *devices; /* the folder of N/msr; NULL: /dev/cpu; borrowed */
	bool cores;    /* also read the registers that count a single core (AMD) */
};
