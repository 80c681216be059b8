/* SPDX-License-Identifier: Apache-2.0 */
/* The values of the options --otlp.…, which otlp_exporter.c describes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "net/push_target.h"
#include "snapshot/snapshot.h"

/* The first choice leaves the decision to the environment. */
#define OTLP_INTERVAL_AUTO UINT64_MAX
enum otlp_temporality { OTLP_TEMPORALITY_AUTO, OTLP_CUMULATIVE, OTLP_DELTA };
enum otlp_compression { OTLP_COMPRESSION_AUTO, OTLP_GZIP, OTLP_NO_COMPRESSION };

struct otlp_options {
	char *endpoint; /* "": as the environment has it */
	char *levels[LEVEL_COUNT];
	size_t level_count;
	uint64_t interval_ns; /* or OTLP_INTERVAL_AUTO */
	int temporality, compression;
	struct push_target_options target;
};
