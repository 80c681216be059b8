// SPDX-License-Identifier: Apache-2.0
/*
 * Both components are lines between eleven levels of load, and so is the platform's estimate. At
 * each level the components rise by what their shares say, or by less where the sum would be more
 * than the platform's: so they never fall, and the sum is within the platform's at all loads.
 */
#include "model/component_power.h"

#include <math.h>
#include <string.h>

#include "base/quadrature.h"
#include "model/platform_power.h"

#define OUTSIDE_FACTOR 2.0
/* ln of the error of a design power that does not follow from the CPU's name, in 90 % of models. */
#define TDP_SPREAD   0.23
#define PACKAGE_MOST 1.2 /* over the design power: short excursions of turbo frequencies */
#define DRAM_MOST_W  0.6 /* by GiB: small modules of DDR3 and DDR4 at full load */

/* The data's machines, with room on each side: laws of scale hold a little further. */
#define YEAR_FROM    2014
#define YEAR_TO      2023
#define SOCKETS_MOST 2
#define MEMORY_LEAST 64.0
#define MEMORY_MOST  1536.0
#define TDP_LEAST    90.0
#define TDP_MOST     440.0

void component_scales(const struct machine_facts *facts, double ret[static COMPONENT_COUNT])
{
	ret[COMPONENT_PACKAGE] = (double)facts->cpu.tdp_w * facts->sockets;
	ret[COMPONENT_DRAM] = sqrt(sqrt(facts->memory_gib));
}

static bool is_outside(const struct machine_facts *facts)
{
	double tdp_w = facts->cpu.tdp_w;

	return strcmp(facts->vendor, "intel") != 0 || facts->cpu.desktop ||
	       facts->cpu.segment != CPU_SEGMENT_OTHER || facts->year < YEAR_FROM ||
	       facts->year > YEAR_TO || facts->sockets > SOCKETS_MOST ||
	       !(facts->memory_gib >= MEMORY_LEAST && facts->memory_gib <= MEMORY_MOST) ||
	       !(tdp_w >= TDP_LEAST && tdp_w <= TDP_MOST);
}

/* How much the sum may rise from the level before it, of @sum and @idle_sum there and at idle. */
static double room(double platform_w, double platform_idle_w, double sum, double idle_sum)
{
	double in_total = COMPONENT_PLATFORM_SHARE * platform_w - sum;
	double above_idle =
		COMPONENT_PLATFORM_SHARE * (platform_w - platform_idle_w) - (sum - idle_sum);

	return fmax(0, fmin(in_total, above_idle));
}

/* One level: @wanted is the power by shares, @before the level below (0 at idle). */
static void rise(const double wanted[static COMPONENT_COUNT],
		 const double before[static COMPONENT_COUNT], double room_w,
		 double ret[static COMPONENT_COUNT])
{
	double sum = 0, part = 1;

	for (size_t c = 0; c < COMPONENT_COUNT; c++)
		sum += fmax(0, wanted[c] - before[c]);
	if (sum > room_w)
		part = room_w / sum;
	for (size_t c = 0; c < COMPONENT_COUNT; c++)
		ret[c] = before[c] + part * fmax(0, wanted[c] - before[c]);
}

/* W at @level by the shares, but no more than such memory can draw. */
static void want(const struct component_weights *weights, const struct machine_facts *facts,
		 size_t level, double ret[static COMPONENT_COUNT])
{
	double scales[COMPONENT_COUNT];

	component_scales(facts, scales);
	for (size_t c = 0; c < COMPONENT_COUNT; c++)
		ret[c] = weights->share[c][level] * scales[c];
	ret[COMPONENT_DRAM] = fmin(ret[COMPONENT_DRAM], DRAM_MOST_W * facts->memory_gib);
}

static void rise_in_levels(const struct component_weights *weights,
			   const struct machine_facts *facts, const struct power_curve *platform,
			   struct component_curve *ret)
{
	double before[COMPONENT_COUNT] = { 0 }, wanted[COMPONENT_COUNT], now[COMPONENT_COUNT];
	double platform_idle_w = platform->watts[0], idle_sum = 0;

	for (size_t level = 0; level < COMPONENT_LEVELS; level++) {
		double sum = before[COMPONENT_PACKAGE] + before[COMPONENT_DRAM];
		double room_w =
			level == 0 ? COMPONENT_PLATFORM_SHARE * platform_idle_w
				   : room(platform->watts[level], platform_idle_w, sum, idle_sum);

		want(weights, facts, level, wanted);
		rise(wanted, before, room_w, now);
		for (size_t c = 0; c < COMPONENT_COUNT; c++)
			ret->watts[c][level] = now[c];
		memcpy(before, now, sizeof(before));
		if (level == 0)
			idle_sum = now[COMPONENT_PACKAGE] + now[COMPONENT_DRAM];
	}
}

static double between(const double levels[static COMPONENT_LEVELS], double utilisation)
{
	double position = utilisation * (COMPONENT_LEVELS - 1);
	size_t level = (size_t)position;

	if (level >= COMPONENT_LEVELS - 1)
		return levels[COMPONENT_LEVELS - 1];
	return levels[level] + (levels[level + 1] - levels[level]) * (position - (double)level);
}

/*
 * The spread is a ratio, so it reaches further up than down; but down no further than 0, and up no
 * further than @most_w.
 */
static double bound(double watts, double spread, double factor, double most_w)
{
	double up = watts * expm1(spread) * factor, down = watts * -expm1(-spread) * factor;

	return fmax(fmin(down, watts), fmin(up, fmax(0, most_w - watts)));
}

void component_curve_make(const struct component_weights *weights,
			  const struct power_model *platform, const struct machine_facts *facts,
			  struct component_curve *ret)
{
	struct power_curve of_known;
	struct machine_facts known;

	power_model_complete_facts(platform, facts, &known);
	power_curve_make(platform, facts, &ret->whole);
	power_curve_make(platform, &known, &of_known);
	rise_in_levels(weights, &known, &of_known, ret);
	ret->weights = weights;
	ret->knows_tdp = facts->cpu.tdp_w > 0;
	/* A little more than the design power, if it is known, and the power of such memory. */
	ret->most_w[COMPONENT_PACKAGE] =
		ret->knows_tdp ? PACKAGE_MOST * known.cpu.tdp_w * known.sockets : (double)INFINITY;
	ret->most_w[COMPONENT_DRAM] = DRAM_MOST_W * known.memory_gib;
	ret->outside = ret->whole.outside || is_outside(&known);
}

void component_curve_at(const struct component_curve *curve, double utilisation,
			struct power_estimate ret[static COMPONENT_COUNT])
{
	double u = utilisation > 0 ? fmin(utilisation, 1) : 0; /* NaN is 0 */
	struct power_estimate whole;
	double whole_w;

	power_curve_at(&curve->whole, u, &whole);
	whole_w = COMPONENT_PLATFORM_SHARE * (whole.idle_w + whole.dynamic_w + whole.bound_w);
	for (size_t c = 0; c < COMPONENT_COUNT; c++) {
		double watts = between(curve->watts[c], u);
		double spread = between(curve->weights->spread[c], u);

		if (c == COMPONENT_PACKAGE && !curve->knows_tdp)
			spread = add_in_quadrature(spread, TDP_SPREAD);
		ret[c].outside = curve->outside;
		ret[c].idle_w = curve->watts[c][0];
		ret[c].dynamic_w = fmax(0, watts - ret[c].idle_w);
		ret[c].bound_w = bound(watts, spread, curve->outside ? OUTSIDE_FACTOR : 1,
				       fmin(whole_w, curve->most_w[c]));
	}
}

void component_power_estimate(const struct component_weights *weights,
			      const struct power_model *platform, const struct machine_facts *facts,
			      double utilisation, struct power_estimate ret[static COMPONENT_COUNT])
{
	struct component_curve curve;

	component_curve_make(weights, platform, facts, &curve);
	component_curve_at(&curve, utilisation, ret);
}
