/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recent power of rows, for a small graph in each line. Bounded: rows that were not shown for
 * the longest time give way. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SPARK_VALUES 32
#define SPARK_ROWS   512

struct spark {
	uint64_t key;              /* of the row; 0: the place is free */
	uint64_t turn;             /* in which it was added to last */
	uint32_t count;            /* of values, at most SPARK_VALUES */
	float watts[SPARK_VALUES]; /* a ring: the newest is at turn % SPARK_VALUES */
};

struct top_sparks {
	uint64_t turn; /* number of readings */
	struct spark rows[SPARK_ROWS];
};

/* A new reading follows: its rows are added with top_sparks_add(). */
void top_sparks_begin(struct top_sparks *sparks);
void top_sparks_add(struct top_sparks *sparks, uint64_t key, double watts);
/*
 * The last @count values of the row, the newest last; 0 where it had none. Returns how many of them
 * are known, from the newest back.
 */
size_t top_sparks_get(const struct top_sparks *sparks, uint64_t key, float *ret, size_t count);
