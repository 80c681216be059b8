/* SPDX-License-Identifier: Apache-2.0 */
/* Adding meters, and failures of the search for them, to a truth. */
#pragma once

#include "truth/truth_meters.h"

/*
 * Takes @like over, with its state, as a meter of @kind that reports call @path. One
 * that has no place is released and counted.
 */
void truth_add_meter(struct truth *truth, const char *kind, const char *path,
		     const struct truth_meter *like);
/* Notes why @place could not be searched or read: @r, which is -ETIMEDOUT if it did not answer. */
void truth_search_failed(struct truth *truth, const char *place, int r);
/* Closes what the source has opened for it. */
void truth_meter_release(struct truth_meter *meter);
