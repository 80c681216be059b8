/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does the processor add random noise to its energy counters? Intel's processors do so since
 * microcode of 2020 while SGX is enabled, or if bit 0 (ENERGY_FILTER_EN) of the register 0xBC,
 * IA32_MISC_PACKAGE_CTLS, is set (Intel, "Running Average Power Limit Energy Reporting",
 * INTEL-SA-00389).
 */
#pragma once

enum energy_filter {
	ENERGY_FILTER_UNKNOWN, /* the register cannot be read */
	ENERGY_FILTER_OFF, /* the bit is clear, and the kernel has neither SGX nor TDX enabled */
	ENERGY_FILTER_SGX, /* the kernel has enabled SGX or TDX, which needs SGX */
	ENERGY_FILTER_ON,  /* the bit is set */
};

/* @msr: "/dev/cpu/0/msr"; @procfs: "/proc". */
enum energy_filter energy_filter_find(const char *msr, const char *procfs);
/* A sentence that says what was found, and where. */
const char *energy_filter_text(enum energy_filter filter);
