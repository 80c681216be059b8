/* SPDX-License-Identifier: Apache-2.0 */
/* Records that arrived from the host, as other threads see them. Cumulative, except the time. */
#pragma once

#include <stdint.h>

#include "passthrough/passthrough_account.h"

struct passthrough_counts {                           /* all of uint64_t */
	uint64_t outcomes[PASSTHROUGH_OUTCOME_COUNT]; /* of records without fault */
	uint64_t refused[PASSTHROUGH_REFUSAL_COUNT];  /* in a stream; of PASSTHROUGH_OK, unused */
	uint64_t refused_texts;
	uint64_t lost, skipped_bytes, epochs;
	uint64_t host_cpu_us;
	/* In the last minute, see passthrough_cpu.h; 0: not known. */
	uint64_t compared_host_us, compared_own_us;
	uint64_t received_ns; /* MONOTONIC, of the last new record; 0: none yet */
};

struct meter;
/* From any thread. @meter is of the source passthrough. */
void passthrough_meter_counts(const struct meter *meter, struct passthrough_counts *ret);
