/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sources of zones, as a table: which there are, which are chosen, and what they need. A source
 * is a row of meter_sources[]; everything else about it is in its struct meter_ops.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "meter/meter.h"

struct diag;

/* In the order in which their zones are numbered; NULL ends it. */
#define METERS_MAX 16
extern const struct meter_ops *const meter_sources[];
/* A list of sources: names, separated by commas, and this for all sources that are wanted. */
#define METERS_AUTO "auto"
/* 0, or -EINVAL with the names of all sources. */
int meter_check_sources(const char *list, struct diag *diag);
/* True if "auto" is in the list, so that every source that the machine has is opened. */
bool meter_takes_any(const struct meter_options *options);
/* True if @ops is opened: the list names it, or has "auto" and it is wanted. */
bool meter_is_chosen(const struct meter_ops *ops, const struct meter_options *options);

/* Options of the @index-th source, relative to struct meter_options; NULL after the last source. */
const struct option_section *meter_options_at(size_t index);

/*
 * The rest covers the chosen sources. To choose, sources look for hardware, mostly in sysfs, which
 * may hang.
 */
/* Bits of enum need. */
unsigned meter_needs(const struct meter_options *options);
/* Passes all paths that these sources open later to @add. */
void meter_files(const struct meter_options *options, meter_path_fn *add, void *userdata);
/* The @index-th device; NULL after the last. */
const struct meter_device *meter_device_at(const struct meter_options *options, size_t index);
