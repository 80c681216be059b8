// SPDX-License-Identifier: Apache-2.0
/*
 * Power at idle and at full load are each the exponential of a weighted sum of features (so both
 * are positive and scale by factors); between them the power follows a curve with a value at each
 * tenth of load that only rises. The curve and the year terms model the changes of two decades:
 * idle power fell, then rose again with cores and memory. Facts outside the population that the
 * weights were fitted to are clamped to its bounds: there is no extrapolation.
 */
#include "model/platform_power.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"

#define YEAR_ORIGIN 2014 /* of trends */
#define ZEN_YEAR    2017

static double clamp(double value, double low, double high)
{
	if (!(value > low)) /* also NaN */
		return low;
	return value < high ? value : high;
}

static unsigned clamp_unsigned(unsigned value, unsigned low, unsigned high)
{
	if (value < low)
		return low;
	return value < high ? value : high;
}

static const struct typical_machine *typical_of(const struct power_model_weights *weights,
						unsigned year)
{
	size_t row = 0;

	while (row + 1 < POWER_TYPICAL_CLASSES && weights->typical[row + 1].year_from <= year)
		row++;
	return &weights->typical[row];
}

static bool is_arm(const struct machine_facts *facts)
{
	return strcmp(facts->vendor, "arm") == 0;
}

void power_model_complete_facts(const struct power_model *model, const struct machine_facts *facts,
				struct machine_facts *ret)
{
	struct machine_facts full = *facts;
	unsigned smt = is_arm(facts) ? 1 : 2;
	const struct typical_machine *typical;

	if (full.year == 0)
		full.year = model->weights->year_typical;
	typical = typical_of(model->weights, full.year);
	if (full.cores == 0 && full.threads > 0)
		full.cores = (full.threads + smt - 1) / smt;
	if (full.sockets == 0)
		full.sockets = full.cores == 0 ? typical->sockets
					       : (full.cores + typical->cores_per_socket - 1) /
							 typical->cores_per_socket;
	if (full.cores == 0)
		full.cores = typical->cores_per_socket * full.sockets;
	if (full.threads == 0)
		full.threads = full.cores * smt;
	if (!(full.memory_gib > 0))
		full.memory_gib = typical->memory_gib_per_core * full.cores;
	if (!(full.frequency_ghz > 0))
		full.frequency_ghz = typical->frequency_ghz;
	*ret = full;
}

static void make_features(const struct power_model_weights *weights,
			  const struct machine_facts *facts, unsigned year,
			  double features[static POWER_FEATURE_COUNT])
{
	double memory = clamp(facts->memory_gib, weights->memory_gib_min, weights->memory_gib_max);
	double ghz =
		clamp(facts->frequency_ghz, weights->frequency_ghz_min, weights->frequency_ghz_max);
	bool amd = strcmp(facts->vendor, "amd") == 0;

	features[POWER_FEATURE_ONE] = 1;
	features[POWER_FEATURE_LN_CORES] = log(clamp_unsigned(facts->cores, 1, weights->cores_max));
	features[POWER_FEATURE_LN_CHIPS] =
		log(clamp_unsigned(facts->sockets, 1, weights->sockets_max));
	features[POWER_FEATURE_LN_MEMORY] = log(memory);
	features[POWER_FEATURE_LN_GHZ] = log(ghz);
	features[POWER_FEATURE_YEAR] = ((double)year - 2000) / 10;
	for (size_t i = 0; i < POWER_YEAR_KNOTS; i++)
		features[POWER_FEATURE_YEAR_2007 + i] =
			year > weights->year_knots[i] ? (year - weights->year_knots[i]) / 10.0 : 0;
	features[POWER_FEATURE_AMD] = amd;
	features[POWER_FEATURE_ARM] = is_arm(facts);
	features[POWER_FEATURE_ZEN] = amd && year >= ZEN_YEAR;
	features[POWER_FEATURE_LN_GHZ_BY_YEAR] = log(ghz) * ((double)year - YEAR_ORIGIN) / 10;
}

static double watts(const double weights[static POWER_FEATURE_COUNT],
		    const double features[static POWER_FEATURE_COUNT])
{
	double ln_w = 0;

	for (size_t i = 0; i < POWER_FEATURE_COUNT; i++)
		ln_w += weights[i] * features[i];
	return exp(ln_w);
}

/* Share of the dynamic range in use at @utilisation: 0 at 0, 1 at 1, never falling. */
static double curve_at(const struct power_model_weights *weights, unsigned year, double utilisation)
{
	double decades = ((double)year - YEAR_ORIGIN) / 10;
	double position = utilisation * POWER_CURVE_LEVELS;
	double below = 0, above = 0;
	unsigned level;

	for (level = 0; level < POWER_CURVE_LEVELS; level++) {
		below = above;
		above = 1;
		if (level + 1 < POWER_CURVE_LEVELS)
			above = clamp(weights->curve[level][0] + weights->curve[level][1] * decades,
				      below, 1);
		if (position <= level + 1)
			break;
	}
	return below + (above - below) * (position - level);
}

void power_model_estimate(const struct power_model *model, const struct machine_facts *facts,
			  double utilisation, struct power_estimate *ret)
{
	const struct power_model_weights *weights = model->weights;
	double features[POWER_FEATURE_COUNT];
	struct machine_facts known;
	double idle_w, full_w;
	unsigned year;

	power_model_complete_facts(model, facts, &known);
	year = clamp_unsigned(known.year, weights->year_min, weights->year_max);
	make_features(weights, &known, year, features);
	idle_w = watts(weights->idle, features);
	full_w = watts(weights->full, features);
	ret->idle_w = idle_w;
	ret->dynamic_w = full_w > idle_w ? (full_w - idle_w) *
						   curve_at(weights, year, clamp(utilisation, 0, 1))
					 : 0;
}
