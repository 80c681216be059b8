/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RAPL's registers: Intel SDM volume 3, "Platform specific power management support", and volume 4;
 * AMD's Processor Programming Reference for families 17h to 1Ah. Counters have 32 bits. Pure.
 *
 * The register of units has the unit of energy as a power of 1/2 J in bits 12:8, with exceptions:
 * servers from Haswell to Ice Lake count memory in 15.3 µJ; Sapphire Rapids and Emerald Rapids
 * count the platform in joules; the Atoms Silvermont and Airmont have 2^N µJ. On a model that is
 * not listed, memory and platform may have either unit, so that they are left out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RAPL_REGISTERS_MAX 5

struct rapl_processor {
	char vendor[16]; /* "GenuineIntel" */
	unsigned family, model;
};

struct truth_register {
	const char *kind; /* "package" */
	uint32_t address;
};

struct truth_registers {
	uint32_t unit_address;
	bool is_by_die; /* counters are of a die, else of a package */
	struct truth_register items[RAPL_REGISTERS_MAX];
	size_t count;
};

/*
 * Reads the first processor of a text such as /proc/cpuinfo. False: it has no vendor, or no family.
 */
bool truth_processor_parse(const char *cpuinfo, struct rapl_processor *ret);
/* False: a processor without known registers. */
bool truth_registers_find(const struct rapl_processor *processor, struct truth_registers *ret);
/* The joules of one count of @kind, by the value of the register of units. */
double truth_register_unit(const struct rapl_processor *processor, const char *kind,
			   uint64_t unit_value);
