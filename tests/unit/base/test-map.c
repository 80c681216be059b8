// SPDX-License-Identifier: Apache-2.0
/* The map against a model that cannot be wrong: an array searched from end to end. */
#include "base/map.h"

#include "tests/unit/unit.h"

#define KEYS  700 /* few enough that removal and reuse happen often */
#define STEPS 200000

static uint64_t random_u64(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/*
 * Keys as the program has them: pids and start times, which differ in few bits, and some that
 * differ in the high half alone.
 */
static struct map_key nth_key(uint32_t n)
{
	if (n % 3 == 0)
		return (struct map_key){ n, 0 };
	if (n % 3 == 1)
		return (struct map_key){ 0, n };
	return (struct map_key){ (uint64_t)n << 32, (uint64_t)n * 10000000 };
}

static void check_all(const struct map *map, const uint32_t *model)
{
	uint32_t used = 0;

	for (uint32_t n = 0; n < KEYS; n++) {
		assert_int_equal(map_find(map, nth_key(n)), model[n]);
		used += model[n] != MAP_NONE;
	}
	assert_int_equal(map->used, used);
}

static void run_model(uint64_t seed, uint32_t limit)
{
	uint32_t *model = malloc(KEYS * sizeof(*model)), used = 0;
	struct map map;

	memset(model, 0xff, KEYS * sizeof(*model));
	map_init(&map, limit);
	for (int step = 0; step < STEPS; step++) {
		uint32_t n = (uint32_t)(random_u64(&seed) % KEYS);
		uint32_t value = (uint32_t)random_u64(&seed) & 0x7fffffff;

		if (random_u64(&seed) % 5 < (step / 10000 % 2 ? 3U : 2U)) { /* grows, shrinks */
			assert_int_equal(map_remove(&map, nth_key(n)), model[n]);
			used -= model[n] != MAP_NONE;
			model[n] = MAP_NONE;
		} else if (model[n] == MAP_NONE && used == limit) {
			assert_int_equal(map_put(&map, nth_key(n), value), -ENOSPC);
		} else {
			assert_int_equal(map_put(&map, nth_key(n), value), 0);
			used += model[n] == MAP_NONE;
			model[n] = value;
		}
		if (step % 5000 == 0)
			check_all(&map, model);
	}
	check_all(&map, model);
	map_release(&map);
	free(model);
}

static void against_a_model(void **state)
{
	run_model(1, KEYS);
	run_model(0x9e3779b97f4a7c15ULL, 100);
	run_model(77, 48); /* the limit is where the first table is full */
}

static void empty_and_edges(void **state)
{
	struct map_key key = { UINT64_MAX, UINT64_MAX };
	struct map map;

	map_init(&map, 2);
	assert_int_equal(map_find(&map, key), MAP_NONE);
	assert_int_equal(map_remove(&map, key), MAP_NONE);
	assert_int_equal(map_put(&map, key, 0), 0);
	assert_int_equal(map_put(&map, (struct map_key){ 0, 0 }, 1), 0);
	assert_int_equal(map_put(&map, (struct map_key){ 0, 1 }, 2), -ENOSPC);
	assert_int_equal(map_put(&map, key, 7), 0); /* replacing needs no room */
	assert_int_equal(map_find(&map, key), 7);
	assert_int_equal(map_find(&map, (struct map_key){ 0, 0 }), 1);
	map_release(&map);
	assert_int_equal(map_find(&map, key), MAP_NONE);
	assert_int_equal(map_put(&map, key, 3), 0); /* usable again, with its limit */
	map_release(&map);
	map_release(&map);
	map_init(&map, 0);
	assert_int_equal(map_put(&map, key, 1), -ENOSPC);
	assert_null(map.slots);
	map_release(&map);
}

/* Consecutive pids with one start time must not pile up: this takes seconds when they do. */
static void many(void **state)
{
	struct map map;

	map_init(&map, 300000);
	for (uint32_t n = 0; n < 300000; n++)
		assert_int_equal(map_put(&map, (struct map_key){ n, 1234567890000000000ULL }, n),
				 0);
	for (uint32_t n = 0; n < 300000; n++)
		assert_int_equal(map_find(&map, (struct map_key){ n, 1234567890000000000ULL }), n);
	assert_true((map.mask + 1) / 4 * 3 >= map.used);
	for (uint32_t n = 0; n < 300000; n++)
		assert_int_equal(map_remove(&map, (struct map_key){ n, 1234567890000000000ULL }),
				 n);
	assert_int_equal(map.used, 0);
	map_release(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(against_a_model),
		cmocka_unit_test(empty_and_edges),
		cmocka_unit_test(many),
	};

	return unit_run(tests);
}
