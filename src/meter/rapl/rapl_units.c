// SPDX-License-Identifier: Apache-2.0
/*
 * Servers from Haswell on count memory in 15.3 µJ, whatever the unit register says; Sapphire Rapids
 * and Emerald Rapids by that register again, but the platform in joules. Atoms before Goldmont have
 * another formula. A model that is not listed may have any of these.
 */
#include "meter/rapl/rapl_units.h"

#include <string.h>

#include "base/macro.h"
#include "base/num.h"

#define UNIT_1_UJ (1ULL << 32)
#define UNIT_1_J  (UJ_PER_J * UNIT_1_UJ)
/* 15.3 µJ, as Linux and the data sheets have it, and not 2^-16 J. */
#define UNIT_DRAM (UNIT_1_UJ * 153 / 10)

#define INTEL                                                                                      \
	.unit_msr = 0x606, .is_by_die = true, .register_count = 5,                                 \
	.registers = { { ZONE_PACKAGE, 0x611 },                                                    \
		       { ZONE_CORE, 0x639 },                                                       \
		       { ZONE_UNCORE, 0x641 },                                                     \
		       { ZONE_DRAM, 0x619 },                                                       \
		       { ZONE_PSYS, 0x64d } }

static const struct rapl_cpu intel_core = { INTEL };
static const struct rapl_cpu intel_server = { INTEL, .dram_unit = UNIT_DRAM };
static const struct rapl_cpu intel_server_of_2023 = { INTEL, .psys_unit = UNIT_1_J };
static const struct rapl_cpu intel_atom = { INTEL, .is_in_microjoule = true };
static const struct rapl_cpu amd = { .unit_msr = 0xc0010299,
				     .registers = { { ZONE_PACKAGE, 0xc001029b } },
				     .register_count = 1,
				     .core_msr = 0xc001029a };

/* Family 6. */
static const struct {
	const struct rapl_cpu *cpu;
	uint8_t models[48];
} intel_models[] = {
	{ &intel_core,
	  {
		  0x2a, 0x2d, 0x3a, 0x3e,                   /* Sandy Bridge, Ivy Bridge */
		  0x3c, 0x45, 0x46, 0x3d, 0x47, 0x56,       /* Haswell, Broadwell */
		  0x4e, 0x5e, 0x8e, 0x9e, 0xa5, 0xa6, 0x66, /* Skylake to Cannon Lake */
		  0x7d, 0x7e, 0x9d, 0xa7, 0x8c, 0x8d, 0x8a, /* Ice Lake to Lakefield */
		  0x97, 0x9a, 0xbe, 0xb7, 0xba, 0xbf, 0xd7, /* Alder Lake to Bartlett Lake */
		  0xac, 0xaa, 0xbd, 0xc5, 0xc6,             /* Meteor Lake to Arrow Lake */
		  0x5c, 0x5f, 0x7a, 0x86, 0x96, 0x9c,       /* Goldmont, Tremont */
	  } },
	/* Haswell, Broadwell, Skylake (to Cooper Lake), Ice Lake, Xeon Phi */
	{ &intel_server, { 0x3f, 0x4f, 0x55, 0x6a, 0x6c, 0x57, 0x85 } },
	{ &intel_server_of_2023, { 0x8f, 0xcf } },   /* Sapphire Rapids, Emerald Rapids */
	{ &intel_atom, { 0x37, 0x4a, 0x4c, 0x5a } }, /* Silvermont, Airmont */
};

static const struct rapl_cpu *find_intel(unsigned family, unsigned model)
{
	if (family != 6 || !model || model > UINT8_MAX)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(intel_models); i++) {
		if (memchr(intel_models[i].models, (int)model, sizeof(intel_models[i].models)))
			return intel_models[i].cpu;
	}
	return NULL;
}

const struct rapl_cpu *rapl_cpu_find(const char *vendor, unsigned family, unsigned model)
{
	if (strcmp(vendor, "GenuineIntel") == 0)
		return find_intel(family, model);
	if (strcmp(vendor, "AuthenticAMD") == 0 &&
	    (family == 0x17 || family == 0x19 || family == 0x1a)) /* Zen to Zen 5 */
		return &amd;
	if (strcmp(vendor, "HygonGenuine") == 0 && family == 0x18)
		return &amd;
	return NULL;
}

uint64_t rapl_unit(const struct rapl_cpu *cpu, enum zone_kind kind, uint64_t unit_value)
{
	unsigned esu = unit_value >> 8 & 0x1f;

	if (kind == ZONE_DRAM && cpu->dram_unit)
		return cpu->dram_unit;
	if (kind == ZONE_PSYS && cpu->psys_unit)
		return cpu->psys_unit;
	return cpu->is_in_microjoule ? UNIT_1_UJ << esu : UNIT_1_J >> esu;
}
