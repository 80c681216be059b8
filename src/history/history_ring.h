/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Energy over time: sums of µJ in steps of one second for the last hour, and in steps of one minute
 * for the last day. Both are sums of the same energies, so none is made from the other and nothing
 * is rounded when the resolution falls. Pure.
 *
 * Steps are counted from the origin of the clock, CLOCK_BOOTTIME: step n of a second begins at n s.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HISTORY_FINE_S       1U
#define HISTORY_COARSE_S     60U
#define HISTORY_FINE_STEPS   3600U
#define HISTORY_COARSE_STEPS 1440U

/* Memory that is 0 and takes no page before it is written to. NULL without memory. */
void *history_memory_new(size_t size);
/* Takes NULL. */
void history_memory_free(void *memory, size_t size);

/* The steps [from, to) of each resolution that begin while the clock moves on. */
struct history_advance {
	struct history_steps {
		uint64_t from, to;
	} fine, coarse;
};

/* [from, to); not empty. */
struct history_span {
	uint64_t from_ns, to_ns;
};

struct history_energy {
	uint64_t fine_uj[HISTORY_FINE_STEPS];
	uint64_t coarse_uj[HISTORY_COARSE_STEPS];
	uint64_t hour_uj; /* Σ fine_uj */
};

/* For how much of each step the energy is known. */
struct history_cover {
	uint16_t fine_ms[HISTORY_FINE_STEPS];
	uint16_t coarse_ms[HISTORY_COARSE_STEPS];
};

/* Steps of one resolution: @count of @width_s, the first is number @first. */
struct history_range {
	uint64_t first;
	uint32_t count, width_s;
};

/*
 * Adds @energy_uj, used evenly in @span, which ends at the present step at the latest. The sum of
 * what the steps get is @energy_uj; what is older than the first step goes to the first step.
 */
void history_energy_add(struct history_energy *ring, struct history_span span, uint64_t energy_uj);
void history_cover_add(struct history_cover *ring, struct history_span span);
/* The clock moves on from @before_ns to @now_ns. */
struct history_advance history_advance(uint64_t before_ns, uint64_t now_ns);
/* Empties the steps that begin. */
void history_energy_advance(struct history_energy *ring, const struct history_advance *advance);
void history_cover_advance(struct history_cover *ring, const struct history_advance *advance);
/* Adds what @from has to @to, step by step. */
void history_energy_merge(struct history_energy *to, const struct history_energy *from);

/*
 * The sums of each step of @range; its width is a multiple of HISTORY_FINE_S, or of
 * HISTORY_COARSE_S where @coarse, and all its steps are kept.
 */
void history_energy_read(const struct history_energy *ring, const struct history_range *range,
			 bool coarse, uint64_t *ret_uj);
void history_cover_read(const struct history_cover *ring, const struct history_range *range,
			bool coarse, uint32_t *ret_ms);
