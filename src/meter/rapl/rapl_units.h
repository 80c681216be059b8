/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which registers of a processor count energy, and in which units: Intel SDM volume 3, "Power and
 * Thermal Management", RAPL interfaces, and volume 4; AMD PPR, Core::X86::Msr::RAPL_PWR_UNIT. What
 * differs by model is as in Linux, drivers/powercap/intel_rapl_common.c and intel_rapl_msr.c. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "energy/zone.h"

#define RAPL_REGISTERS_MAX 5

struct rapl_register {
	enum zone_kind kind;
	uint32_t msr; /* a counter in its lower 32 bits */
};

struct rapl_cpu {
	uint32_t unit_msr;
	struct rapl_register registers[RAPL_REGISTERS_MAX];
	size_t register_count;
	uint32_t core_msr; /* energy of one core, on each of its CPUs; 0: it has none */
	bool is_by_die;    /* a die of a package has registers of its own, if there are several */
	bool is_in_microjoule;         /* the unit is 2^ESU µJ, and not 2^-ESU J */
	uint64_t dram_unit, psys_unit; /* fixed ones, as rapl_unit(); 0: as of the others */
};

/*
 * The facts of a processor, as CPUID and /proc/cpuinfo have it: "GenuineIntel", family and model.
 * NULL: it is not known, and nothing may be assumed of its units.
 */
const struct rapl_cpu *rapl_cpu_find(const char *vendor, unsigned family, unsigned model);
/*
 * The energy of one count of the zone's register, in 2^-32 µJ, by the value of the unit register.
 * So it is also the number of microjoules after which the register wraps to 0.
 */
uint64_t rapl_unit(const struct rapl_cpu *cpu, enum zone_kind kind, uint64_t unit_value);

/* The microjoules of a register's value. */
static inline uint64_t rapl_register_uj(uint64_t value, uint64_t unit)
{
	return (uint64_t)((unsigned __int128)(value & UINT32_MAX) * unit >> 32);
}
