/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording of "kepler record" as the series that an exporter would have shown: energy by zone,
 * the counters of each container, and the time that a virtual machine's CPUs waited. So rows are
 * extracted from it as from a Prometheus, and with the exact times of readings.
 */
#pragma once

#include <stdbool.h>

#include "samples/extraction.h"

/* Returns true if the file begins like a recording. */
bool recorded_series_is(const char *path);
/* Like extraction_of_file(); -EINVAL for levels other than container and node. */
int extraction_of_recording(const struct extract_options *options, const char *path,
			    struct extraction *ret, struct diag *diag);
