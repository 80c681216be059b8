/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far the platform model is off for machines that it has not seen, and the bounds that follow:
 * which machines are held out together, errors by type, and conformal bounds by level of load
 * (Vovk, Gammerman and Shafer, "Algorithmic Learning in a Random World", Springer 2005). Each type
 * of machines weighs the same, however many rows it has.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "tools/builtin-models/platform_fit.h"

/* The machines that are held out together. */
enum platform_kinship {
	PLATFORM_TYPE,       /* a type alone */
	PLATFORM_CPU,        /* all types of a CPU model */
	PLATFORM_GENERATION, /* all of a vendor, a year, and a size */
	PLATFORM_KINSHIPS,
};

#define PLATFORM_FOLDS 20U

/*
 * The group of each type into @ret [count], from 0 on; returns their number. Equal types have equal
 * groups, which are in the order of their first type.
 */
uint32_t platform_groups(const struct platform_type *const *types, size_t count,
			 enum platform_kinship kinship, uint32_t *ret);
/*
 * Deals @groups groups to PLATFORM_FOLDS folds of about the same size, by chance: @group [count]
 * becomes the fold of each type. 0 or -ENOMEM.
 */
int platform_deal(uint32_t *group, size_t count, uint32_t groups, uint64_t seed);

/* Over types: of each type's own mean error over its rows. */
struct platform_errors {
	double mean_w, median_w;
	double mean_percent, median_percent; /* of the measured power */
};

/* @watts has the prediction of each row, type by type. 0 or -ENOMEM. */
int platform_judge(const struct platform_type *const *types, size_t count, const double *watts,
		   struct platform_errors *ret);
/* Watts of each row, type by type, from ln W at the levels [count × POWER_LEVELS]. */
void platform_row_watts(const struct platform_type *const *types, size_t count, const double *ln_w,
			double *ret);
size_t platform_row_count(const struct platform_type *const *types, size_t count);

/*
 * At each level, the share of the prediction that nine of ten rows are within. 0 or -ENOMEM.
 */
int platform_bounds(const struct platform_type *const *types, size_t count, const double *watts,
		    double ret[static POWER_LEVELS]);
/*
 * The share of each type's rows within bounds that were found on other types: the bounds of one
 * half of the groups @bound_group [count] (there are @groups), for the types of the other half; a
 * mean of ten draws, into @ret [count]. 0 or -ENOMEM.
 */
int platform_coverage(const struct platform_type *const *types, size_t count, const double *watts,
		      const uint32_t *bound_group, uint32_t groups, double *ret);
