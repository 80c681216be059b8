/* SPDX-License-Identifier: Apache-2.0 */
/* Meters that a struct timed_call reads. It is their state. */
#pragma once

#include "base/timed_call.h"
#include "truth/truth_meters.h"

/* Reads exactly @size bytes of @meter into @ret. 0 or -errno with a diagnosis. */
int timed_meter_read(struct truth_meter *meter, void *ret, size_t size, struct diag *diag);
/*
 * Calls @call with @state, and keeps its process for a meter if it returns exactly @size bytes.
 * NULL: it does not; the reason is noted in @truth, with the name @place.
 */
struct timed_call *timed_meter_try(timed_call_fn *call, void *state, void *ret, size_t size,
				   const char *place, struct truth *truth);
/* Adds a meter like @like of @kind, @path in reports, which takes @call over. */
void timed_meter_add(struct truth *truth, const char *kind, const char *path,
		     const struct truth_meter *like, struct timed_call *call);
