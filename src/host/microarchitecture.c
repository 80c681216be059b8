// SPDX-License-Identifier: Apache-2.0
/*
 * Names and years of CPU families, from the vendors' public identification tables (CPUID leaf 1;
 * MIDR_EL1). The year is a class: when the family came to servers. It is the same for all of a
 * family, because a family number says no more. src/model/processor/cpu_name.c has the same classes
 * by name.
 *
 * Numbers grow with time: a model above all that are known of its family, or an x86 family above
 * all that are known, is newer than this table, and is treated as its newest year. Other vendors
 * build Arm's cores, too, under Arm's part numbers (Microsoft's Cobalt is a Neoverse N2).
 */
#include <string.h>

#include "base/macro.h"
#include "host/host.h"

/* Inclusive ranges. The first row that fits is taken. */
struct family {
	unsigned family;
	unsigned model_first, model_last;
	unsigned stepping_first, stepping_last;
	const char *name;
	unsigned year;
};

#define ANY_STEPPING 0, 15

static const struct family intel_families[] = {
	{ 15, 0, 255, ANY_STEPPING, "NetBurst", 2005 },
	{ 6, 14, 14, ANY_STEPPING, "Yonah", 2006 },
	{ 6, 15, 15, ANY_STEPPING, "Core", 2006 },
	{ 6, 22, 22, ANY_STEPPING, "Core", 2006 },
	{ 6, 23, 23, ANY_STEPPING, "Penryn", 2007 },
	{ 6, 29, 29, ANY_STEPPING, "Penryn", 2007 },
	{ 6, 26, 26, ANY_STEPPING, "Nehalem", 2009 },
	{ 6, 30, 31, ANY_STEPPING, "Nehalem", 2009 },
	{ 6, 46, 46, ANY_STEPPING, "Nehalem", 2009 },
	{ 6, 37, 37, ANY_STEPPING, "Westmere", 2010 },
	{ 6, 44, 44, ANY_STEPPING, "Westmere", 2010 },
	{ 6, 47, 47, ANY_STEPPING, "Westmere", 2010 },
	{ 6, 42, 42, ANY_STEPPING, "Sandy Bridge", 2012 },
	{ 6, 45, 45, ANY_STEPPING, "Sandy Bridge", 2012 },
	{ 6, 58, 58, ANY_STEPPING, "Ivy Bridge", 2013 },
	{ 6, 62, 62, ANY_STEPPING, "Ivy Bridge", 2013 },
	{ 6, 60, 60, ANY_STEPPING, "Haswell", 2014 },
	{ 6, 63, 63, ANY_STEPPING, "Haswell", 2014 },
	{ 6, 69, 70, ANY_STEPPING, "Haswell", 2014 },
	{ 6, 61, 61, ANY_STEPPING, "Broadwell", 2016 },
	{ 6, 71, 71, ANY_STEPPING, "Broadwell", 2016 },
	{ 6, 79, 79, ANY_STEPPING, "Broadwell", 2016 },
	{ 6, 86, 86, ANY_STEPPING, "Broadwell", 2016 },
	{ 6, 78, 78, ANY_STEPPING, "Skylake", 2015 },
	{ 6, 94, 94, ANY_STEPPING, "Skylake", 2015 },
	{ 6, 85, 85, 0, 4, "Skylake", 2017 },
	{ 6, 85, 85, 5, 9, "Cascade Lake", 2019 },
	{ 6, 85, 85, 10, 15, "Cooper Lake", 2020 },
	{ 6, 142, 142, 10, 15, "Coffee Lake", 2018 },
	{ 6, 158, 158, 10, 15, "Coffee Lake", 2018 },
	{ 6, 142, 142, ANY_STEPPING, "Kaby Lake", 2017 },
	{ 6, 158, 158, ANY_STEPPING, "Kaby Lake", 2017 },
	{ 6, 165, 166, ANY_STEPPING, "Comet Lake", 2020 },
	{ 6, 125, 126, ANY_STEPPING, "Ice Lake", 2020 },
	{ 6, 106, 106, ANY_STEPPING, "Ice Lake", 2021 },
	{ 6, 108, 108, ANY_STEPPING, "Ice Lake", 2021 },
	{ 6, 140, 141, ANY_STEPPING, "Tiger Lake", 2021 },
	{ 6, 167, 167, ANY_STEPPING, "Rocket Lake", 2021 },
	{ 6, 151, 151, ANY_STEPPING, "Alder Lake", 2022 },
	{ 6, 154, 154, ANY_STEPPING, "Alder Lake", 2022 },
	{ 6, 183, 183, ANY_STEPPING, "Raptor Lake", 2023 },
	{ 6, 186, 186, ANY_STEPPING, "Raptor Lake", 2023 },
	{ 6, 191, 191, ANY_STEPPING, "Raptor Lake", 2023 },
	{ 6, 170, 170, ANY_STEPPING, "Meteor Lake", 2023 },
	{ 6, 143, 143, ANY_STEPPING, "Sapphire Rapids", 2023 },
	{ 6, 207, 207, ANY_STEPPING, "Emerald Rapids", 2023 },
	{ 6, 173, 174, ANY_STEPPING, "Granite Rapids", 2024 },
	{ 6, 175, 175, ANY_STEPPING, "Sierra Forest", 2024 },
	{ 6, 95, 95, ANY_STEPPING, "Goldmont", 2017 },
	{ 6, 190, 190, ANY_STEPPING, "Alder Lake", 2023 },
	{ 6, 182, 182, ANY_STEPPING, "Grand Ridge", 2024 },
	{ 6, 181, 181, ANY_STEPPING, "Arrow Lake", 2024 },
	{ 6, 197, 198, ANY_STEPPING, "Arrow Lake", 2024 },
	{ 6, 189, 189, ANY_STEPPING, "Lunar Lake", 2024 },
	{ 6, 215, 215, ANY_STEPPING, "Bartlett Lake", 2025 },
	{ 6, 204, 204, ANY_STEPPING, "Panther Lake", 2025 },
	{ 6, 221, 221, ANY_STEPPING, "Clearwater Forest", 2026 },
	{ 18, 1, 3, ANY_STEPPING, "Nova Lake", 2026 },
	{ 19, 1, 1, ANY_STEPPING, "Diamond Rapids", 2026 },
};

static const struct family amd_families[] = {
	{ 15, 0, 255, ANY_STEPPING, "K8", 2005 },
	{ 16, 0, 3, ANY_STEPPING, "Barcelona", 2008 },
	{ 16, 4, 7, ANY_STEPPING, "Shanghai", 2008 },
	{ 16, 8, 8, ANY_STEPPING, "Istanbul", 2009 },
	{ 16, 9, 10, ANY_STEPPING, "Magny-Cours", 2010 },
	{ 21, 0, 1, ANY_STEPPING, "Bulldozer", 2011 },
	{ 21, 2, 31, ANY_STEPPING, "Piledriver", 2012 },
	{ 21, 48, 63, ANY_STEPPING, "Steamroller", 2014 },
	{ 21, 96, 127, ANY_STEPPING, "Excavator", 2015 },
	{ 23, 8, 8, ANY_STEPPING, "Zen+", 2018 },
	{ 23, 24, 24, ANY_STEPPING, "Zen+", 2018 },
	{ 23, 0, 47, ANY_STEPPING, "Zen", 2017 },
	{ 23, 48, 255, ANY_STEPPING, "Zen 2", 2019 },
	{ 24, 0, 15, ANY_STEPPING, "Zen", 2018 },
	{ 25, 16, 31, ANY_STEPPING, "Zen 4", 2022 },
	{ 25, 96, 127, ANY_STEPPING, "Zen 4", 2022 },
	{ 25, 160, 175, ANY_STEPPING, "Zen 4c", 2023 },
	{ 25, 0, 255, ANY_STEPPING, "Zen 3", 2021 },
	{ 26, 16, 31, ANY_STEPPING, "Zen 5c", 2024 },
	{ 26, 0, 255, ANY_STEPPING, "Zen 5", 2024 },
};

#define ARM            0x41
#define ARM_PART_FIRST 0xd00 /* of cores of 64 bits */
#define ARM_PART_LAST  0xdff

/* Family is the implementer, model the part. */
static const struct family arm_families[] = {
	{ 0x41, 0xd03, 0xd03, ANY_STEPPING, "Cortex-A53", 2015 },
	{ 0x41, 0xd07, 0xd07, ANY_STEPPING, "Cortex-A57", 2015 },
	{ 0x41, 0xd08, 0xd08, ANY_STEPPING, "Cortex-A72", 2016 },
	{ 0x41, 0xd0b, 0xd0b, ANY_STEPPING, "Cortex-A76", 2019 },
	{ 0x41, 0xd0c, 0xd0c, ANY_STEPPING, "Neoverse N1", 2020 },
	{ 0x41, 0xd40, 0xd40, ANY_STEPPING, "Neoverse V1", 2022 },
	{ 0x41, 0xd49, 0xd49, ANY_STEPPING, "Neoverse N2", 2022 },
	{ 0x41, 0xd4f, 0xd4f, ANY_STEPPING, "Neoverse V2", 2023 },
	{ 0x41, 0xd83, 0xd83, ANY_STEPPING, "Neoverse V3", 2024 },
	{ 0x41, 0xd84, 0xd84, ANY_STEPPING, "Neoverse V3", 2024 },
	{ 0x41, 0xd8e, 0xd8e, ANY_STEPPING, "Neoverse N3", 2024 },
	{ 0xc0, 0xac3, 0xac4, ANY_STEPPING, "AmpereOne", 2023 },
	{ 0x48, 0xd01, 0xd01, ANY_STEPPING, "TaiShan v110", 2019 },
	{ 0x50, 0x000, 0x000, ANY_STEPPING, "X-Gene", 2014 },
};

static bool find_family(const struct family *families, size_t count, unsigned family,
			unsigned model, unsigned stepping, const char **ret_name,
			unsigned *ret_year)
{
	for (size_t i = 0; i < count; i++) {
		const struct family *row = &families[i];

		if (row->family != family || model < row->model_first || model > row->model_last ||
		    stepping < row->stepping_first || stepping > row->stepping_last)
			continue;
		*ret_name = row->name;
		*ret_year = row->year;
		return true;
	}
	return false;
}

/* True if the numbers are newer than the table; false when they are in its range, but unknown. */
static bool find_newer(const struct family *families, size_t count, bool families_grow,
		       unsigned family, unsigned model, const char **ret_name, unsigned *ret_year)
{
	unsigned last_family = 0, last_model = 0, newest = 0;
	bool known = false;

	for (size_t i = 0; i < count; i++) {
		const struct family *row = &families[i];

		known |= row->family == family;
		if (row->family == family && row->model_last > last_model)
			last_model = row->model_last;
		last_family = row->family > last_family ? row->family : last_family;
		newest = row->year > newest ? row->year : newest;
	}
	if (known ? model <= last_model : !families_grow || family <= last_family)
		return false;
	*ret_name = "unknown";
	*ret_year = newest;
	return true;
}

static bool find_x86(const struct family *families, size_t count, unsigned family, unsigned model,
		     unsigned stepping, const char **ret_name, unsigned *ret_year)
{
	return find_family(families, count, family, model, stepping, ret_name, ret_year) ||
	       find_newer(families, count, true, family, model, ret_name, ret_year);
}

/* By implementer and part; else by Arm's part numbers, if the part is one. */
static bool find_arm(unsigned implementer, unsigned part, const char **ret_name, unsigned *ret_year)
{
	const unsigned implementers[] = { implementer, ARM };

	for (size_t i = 0; i < ARRAY_SIZE(implementers); i++) {
		if (i == 1 && (part < ARM_PART_FIRST || part > ARM_PART_LAST))
			break;
		if (find_family(arm_families, ARRAY_SIZE(arm_families), implementers[i], part, 0,
				ret_name, ret_year))
			return true;
	}
	return find_newer(arm_families, ARRAY_SIZE(arm_families), false, implementer, part,
			  ret_name, ret_year);
}

bool host_microarchitecture(const char *vendor, unsigned family, unsigned model, unsigned stepping,
			    const char **ret_name, unsigned *ret_year)
{
	if (strcmp(vendor, "GenuineIntel") == 0)
		return find_x86(intel_families, ARRAY_SIZE(intel_families), family, model, stepping,
				ret_name, ret_year);
	if (strcmp(vendor, "AuthenticAMD") == 0 || strcmp(vendor, "HygonGenuine") == 0)
		return find_x86(amd_families, ARRAY_SIZE(amd_families), family, model, stepping,
				ret_name, ret_year);
	return find_arm(family, model, ret_name, ret_year);
}
