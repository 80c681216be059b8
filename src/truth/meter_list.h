/* SPDX-License-Identifier: Apache-2.0 */
/* Adding a meter to a truth, for the searches of all sources. */
#pragma once

#include "truth/truth_meters.h"

/*
 * Takes @like over, with its descriptor and state, as a meter of @kind that reports call @path. One
 * that has no place is released and counted.
 */
void truth_add_meter(struct truth *truth, const char *kind, const char *path,
		     const struct truth_meter *like);
/* Closes what the source has opened for it. */
void truth_meter_release(struct truth_meter *meter);
