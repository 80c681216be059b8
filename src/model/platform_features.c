// SPDX-License-Identifier: Apache-2.0
#include "model/platform_features.h"

#include <math.h>
#include <string.h>

#include "base/macro.h"

#define YEAR_ORIGIN 2000
#define YEAR_MIDDLE 2014 /* of what changes with years */
#define ZEN_YEAR    2017

static const unsigned year_knots[POWER_YEAR_KNOTS] = { 2007, 2010, 2014, 2018 };

static void set_segment(enum cpu_segment segment, double ret[static POWER_SEGMENTS])
{
	for (int i = 0; i < POWER_SEGMENTS; i++)
		ret[i] = (int)segment == (int)CPU_SEGMENT_SMALL + i;
}

static void set_years(double year, double ret[static 1 + POWER_YEAR_KNOTS])
{
	ret[0] = (year - YEAR_ORIGIN) / 10;
	for (size_t i = 0; i < POWER_YEAR_KNOTS; i++)
		ret[1 + i] = year > year_knots[i] ? (year - year_knots[i]) / 10 : 0;
}

void platform_features(const struct platform_machine *machine,
		       double ret[static POWER_FEATURE_COUNT])
{
	double decades = (machine->year - YEAR_MIDDLE) / 10;

	ret[POWER_FEATURE_ONE] = 1;
	ret[POWER_FEATURE_LN_CORES] = log(machine->cores);
	ret[POWER_FEATURE_LN_SOCKETS] = log(machine->sockets);
	ret[POWER_FEATURE_LN_MEMORY] = log(machine->memory_gib);
	ret[POWER_FEATURE_LN_GHZ] = log(machine->frequency_ghz);
	set_years(machine->year, ret + POWER_FEATURE_YEAR);
	ret[POWER_FEATURE_AMD] = machine->amd;
	ret[POWER_FEATURE_ARM] = machine->arm;
	ret[POWER_FEATURE_ZEN] = machine->amd && machine->year >= ZEN_YEAR;
	ret[POWER_FEATURE_LN_GHZ_BY_YEAR] = ret[POWER_FEATURE_LN_GHZ] * decades;
	ret[POWER_FEATURE_LN_TDP] = log(machine->tdp_w);
	ret[POWER_FEATURE_LN_TDP_BY_YEAR] = ret[POWER_FEATURE_LN_TDP] * decades;
	set_segment(machine->segment, ret + POWER_FEATURE_SMALL);
}

void platform_place(const struct platform_machine *machine,
		    const double reach[static POWER_BUMP_COUNT],
		    double ret[static POWER_BUMP_COUNT])
{
	ret[POWER_BUMP_LN_TDP] = log(machine->tdp_w);
	ret[POWER_BUMP_LN_CORES_PER_SOCKET] = log(machine->cores_per_socket);
	ret[POWER_BUMP_LN_SOCKETS] = log(machine->sockets);
	ret[POWER_BUMP_LN_GHZ] = log(machine->frequency_ghz);
	ret[POWER_BUMP_YEAR] = (machine->year - YEAR_ORIGIN) / 10;
	ret[POWER_BUMP_LN_MEMORY_PER_CORE] = log(machine->memory_gib_per_core);
	ret[POWER_BUMP_AMD] = machine->amd;
	ret[POWER_BUMP_ARM] = machine->arm;
	set_segment(machine->segment, ret + POWER_BUMP_SMALL);
	for (size_t i = 0; i < POWER_BUMP_COUNT; i++)
		ret[i] = reach[i] > 0 ? ret[i] / reach[i] : 0;
}

void platform_tdp_features(const struct platform_machine *machine,
			   double ret[static POWER_TDP_COUNT])
{
	ret[POWER_TDP_ONE] = 1;
	ret[POWER_TDP_LN_CORES_PER_SOCKET] = log(machine->cores_per_socket);
	ret[POWER_TDP_LN_GHZ] = log(machine->frequency_ghz);
	set_years(machine->year, ret + POWER_TDP_YEAR);
	ret[POWER_TDP_AMD] = machine->amd;
	ret[POWER_TDP_ARM] = machine->arm;
	ret[POWER_TDP_ZEN] = machine->amd && machine->year >= ZEN_YEAR;
	ret[POWER_TDP_LOW_POWER] = machine->low_power;
	set_segment(machine->segment, ret + POWER_TDP_SMALL);
}
