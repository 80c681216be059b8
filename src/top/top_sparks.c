// SPDX-License-Identifier: Apache-2.0
/* An open hash table; a row is looked for in a few places from its own on. */
#include "top/top_sparks.h"

#include <string.h>

#define PROBES 16

void top_sparks_begin(struct top_sparks *sparks)
{
	sparks->turn++;
}

static const struct spark *find(const struct top_sparks *sparks, uint64_t key)
{
	for (size_t i = 0; i < PROBES; i++) {
		const struct spark *spark = &sparks->rows[(key + i) % SPARK_ROWS];

		if (spark->key == key)
			return spark;
	}
	return NULL;
}

/* Returns the slot of the row, or else the slot that was shown least recently. */
static struct spark *take(struct top_sparks *sparks, uint64_t key)
{
	struct spark *oldest = &sparks->rows[key % SPARK_ROWS];

	for (size_t i = 0; i < PROBES; i++) {
		struct spark *spark = &sparks->rows[(key + i) % SPARK_ROWS];

		if (spark->key == key)
			return spark;
		if (spark->turn < oldest->turn)
			oldest = spark;
	}
	*oldest = (struct spark){ .key = key };
	return oldest;
}

void top_sparks_add(struct top_sparks *sparks, uint64_t key, double watts)
{
	struct spark *spark = take(sparks, key);
	uint64_t missed = sparks->turn - spark->turn;

	if (spark->count && missed > SPARK_VALUES)
		spark->count = 0;
	/* A row that a reading does not have used nothing. */
	for (uint64_t turn = spark->turn + 1; spark->count && turn < sparks->turn; turn++)
		spark->watts[turn % SPARK_VALUES] = 0;
	if (spark->count)
		spark->count += (uint32_t)missed;
	else
		spark->count = 1;
	if (spark->count > SPARK_VALUES)
		spark->count = SPARK_VALUES;
	spark->watts[sparks->turn % SPARK_VALUES] = (float)watts;
	spark->turn = sparks->turn;
}

size_t top_sparks_get(const struct top_sparks *sparks, uint64_t key, float *ret, size_t count)
{
	const struct spark *spark = find(sparks, key);
	size_t known = 0;

	memset(ret, 0, count * sizeof(*ret));
	for (size_t back = 0; spark && back < count && back < SPARK_VALUES; back++) {
		uint64_t turn = sparks->turn - back;

		if (turn > spark->turn) {
			known++;
			continue;
		}
		if (back > sparks->turn || spark->turn - turn >= spark->count)
			break;
		ret[count - 1 - back] = spark->watts[turn % SPARK_VALUES];
		known++;
	}
	return known;
}
