/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RAPL's registers, read through the kernel's driver msr (/dev/cpu/N/msr, msr(4)) on one CPU of
 * each package or die. This needs CAP_SYS_RAWIO and the module msr.
 */
#pragma once

#include "truth/truth_meters.h"

/* Registers that cannot be read, or are 0 and so count nothing, are left out. */
void truth_search_msr(const struct truth_options *options, struct truth *truth);
/* Reads a register of @device, "/dev/cpu/0/msr", with a deadline. 0 or -errno. */
int truth_msr_read(const char *device, uint32_t address, uint64_t *ret);
