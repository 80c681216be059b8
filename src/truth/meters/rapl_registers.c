// SPDX-License-Identifier: Apache-2.0
#include "truth/meters/rapl_registers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"

enum intel_units {
	INTEL_UNLISTED,
	INTEL_BY_REGISTER,
	INTEL_DRAM_15_3_UJ,
	INTEL_PSYS_1_J,
	INTEL_MICROJOULES,
};

/* Family 6. */
static const struct {
	enum intel_units units;
	unsigned char models[32];
} intel_models[] = {
	/* Clients: Haswell to Arrow Lake; Goldmont and Tremont. */
	{ INTEL_BY_REGISTER, { 0x3c, 0x45, 0x46, 0x3d, 0x47, 0x4e, 0x5e, 0x8e, 0x9e, 0xa5, 0xa6,
			       0x7d, 0x7e, 0xa7, 0x8c, 0x8d, 0x97, 0x9a, 0xbe, 0xb7, 0xba, 0xbf,
			       0xac, 0xaa, 0xc5, 0xc6, 0x5c, 0x5f, 0x7a, 0x86, 0x96, 0x9c } },
	/* Haswell, Broadwell, Skylake to Cooper Lake, Ice Lake, Xeon Phi. */
	{ INTEL_DRAM_15_3_UJ, { 0x3f, 0x4f, 0x55, 0x6a, 0x6c, 0x57, 0x85 } },
	{ INTEL_PSYS_1_J, { 0x8f, 0xcf } },
	{ INTEL_MICROJOULES, { 0x37, 0x4a, 0x4c, 0x5a } },
};

/* The value behind "KEY : " in its first line of @text; NULL: there is none. */
static const char *find_value(const char *text, const char *key)
{
	for (const char *at = strstr(text, key); at; at = strstr(at + 1, key)) {
		const char *value = at + strlen(key);

		value += strspn(value, " \t");
		if ((at == text || at[-1] == '\n') && *value == ':')
			return value + 1 + strspn(value + 1, " \t");
	}
	return NULL;
}

bool truth_processor_parse(const char *cpuinfo, struct rapl_processor *ret)
{
	const char *vendor = find_value(cpuinfo, "vendor_id");
	const char *family = find_value(cpuinfo, "cpu family"),
		   *model = find_value(cpuinfo, "model");

	if (!vendor || !family || !model)
		return false;
	(void)snprintf(ret->vendor, sizeof(ret->vendor), "%.*s", (int)strcspn(vendor, " \t\n"),
		       vendor);
	ret->family = (unsigned)strtoul(family, NULL, 10);
	ret->model = (unsigned)strtoul(model, NULL, 10);
	return true;
}

static bool is_intel(const struct rapl_processor *processor)
{
	return strcmp(processor->vendor, "GenuineIntel") == 0 && processor->family == 6;
}

static bool is_zen(const struct rapl_processor *processor)
{
	unsigned family = processor->family;

	return (strcmp(processor->vendor, "AuthenticAMD") == 0 &&
		(family == 0x17 || family == 0x19 || family == 0x1a)) ||
	       (strcmp(processor->vendor, "HygonGenuine") == 0 && family == 0x18);
}

static enum intel_units units_of(const struct rapl_processor *processor)
{
	for (size_t i = 0; i < ARRAY_SIZE(intel_models); i++)
		for (size_t k = 0; k < sizeof(intel_models[i].models); k++)
			if (processor->model > 0 && intel_models[i].models[k] == processor->model)
				return intel_models[i].units;
	return INTEL_UNLISTED;
}

bool truth_registers_find(const struct rapl_processor *processor, struct truth_registers *ret)
{
	static const struct truth_registers intel = {
		.unit_address = 0x606,
		.is_by_die = true,
		.items = { { "package", 0x611 },
			   { "core", 0x639 },
			   { "uncore", 0x641 },
			   { "dram", 0x619 },
			   { "psys", 0x64d } },
		.count = 5,
	};
	static const struct truth_registers zen = { .unit_address = 0xc0010299,
						    .items = { { "package", 0xc001029b } },
						    .count = 1 };

	if (!is_intel(processor) && !is_zen(processor))
		return false;
	*ret = is_intel(processor) ? intel : zen;
	/* The last two, whose unit is not known. */
	if (is_intel(processor) && units_of(processor) == INTEL_UNLISTED)
		ret->count -= 2;
	return true;
}

double truth_register_unit(const struct rapl_processor *processor, const char *kind,
			   uint64_t unit_value)
{
	int exponent = (int)(unit_value >> 8 & 0x1f);
	enum intel_units units = is_intel(processor) ? units_of(processor) : INTEL_BY_REGISTER;

	if (units == INTEL_MICROJOULES)
		return ldexp(1e-6, exponent);
	if (units == INTEL_DRAM_15_3_UJ && strcmp(kind, "dram") == 0)
		return 15.3e-6;
	if (units == INTEL_PSYS_1_J && strcmp(kind, "psys") == 0)
		return 1;
	return ldexp(1, -exponent);
}
