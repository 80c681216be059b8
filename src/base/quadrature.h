/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The deviation of a sum of two independent errors. It is not hypot(), which has a new version in
 * glibc 2.35: a program that calls it does not start on RHEL 9.
 */
#pragma once

#include <math.h>

static inline double add_in_quadrature(double a, double b)
{
	return sqrt(a * a + b * b);
}
