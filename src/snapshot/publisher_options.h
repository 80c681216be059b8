/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

struct publisher_options {
	uint64_t min_uj;    /* --metrics.process.min-joules */
	uint64_t settle_ns; /* --metrics.settle */
	uint64_t keep_ns;   /* --metrics.keep; less than settle_ns counts as that */
	uint32_t max_rows;  /* of all levels, in one snapshot (--metrics.max-series) */
};
