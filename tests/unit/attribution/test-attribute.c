// SPDX-License-Identifier: Apache-2.0
/* One zone, one interval: every microjoule is somewhere, in every mode and whatever fails. */
#include "attribution/attribute.h"

#include "tests/rig/property.h"
#include "tests/unit/unit.h"

#define PARTIES 3

struct fixture {
	uint64_t parts[MODE_COUNT][PARTIES];
	struct attribution_result result;
	struct split_scratch scratch;
};

static int attribute(struct fixture *f, const struct attribution_input *input)
{
	f->result.parts[MODE_DYNAMIC] = f->parts[MODE_DYNAMIC];
	f->result.parts[MODE_IDLE] = f->parts[MODE_IDLE];
	memset(f->parts, 0xff, sizeof(f->parts));
	return attribute_zone(input, &f->result, &f->scratch);
}

static const uint64_t usage[PARTIES] = { 10, 30, 0 };
static const uint64_t sizes[PARTIES] = { 1, 1, 2 };

static void test_idle_stays_on_the_node(void **state)
{
	struct fixture f = { 0 };
	const struct attribution_input input = { .energy_uj = 1000,
						 .idle_uj = 600,
						 .count = PARTIES,
						 .dynamic_weights = usage,
						 .idle_share = IDLE_SHARE_NODE };

	assert_int_equal(attribute(&f, &input), 0);
	assert_int_equal(f.result.mode_uj[MODE_DYNAMIC], 400);
	assert_int_equal(f.result.mode_uj[MODE_IDLE], 600);
	assert_int_equal(f.parts[MODE_DYNAMIC][0], 100);
	assert_int_equal(f.parts[MODE_DYNAMIC][1], 300);
	assert_int_equal(f.parts[MODE_DYNAMIC][2], 0);
	assert_int_equal(f.parts[MODE_IDLE][1], 0);
	assert_int_equal(f.result.unattributed_uj[MODE_IDLE][UNATTRIBUTED_IDLE_POLICY], 600);
	split_scratch_release(&f.scratch);
}

static void test_idle_is_shared_by_size(void **state)
{
	struct fixture f = { 0 };
	const struct attribution_input input = { .energy_uj = 1000,
						 .idle_uj = 600,
						 .count = PARTIES,
						 .dynamic_weights = usage,
						 .idle_share = IDLE_SHARE_SIZE,
						 .idle_weights = sizes,
						 .dropped_weight = 40 };

	assert_int_equal(attribute(&f, &input), 0);
	assert_int_equal(f.parts[MODE_IDLE][0], 150);
	assert_int_equal(f.parts[MODE_IDLE][2], 300);
	assert_int_equal(f.parts[MODE_DYNAMIC][1], 150);
	assert_int_equal(f.result.unattributed_uj[MODE_DYNAMIC][UNATTRIBUTED_DROPPED], 200);
	assert_int_equal(f.result.unattributed_uj[MODE_IDLE][UNATTRIBUTED_DROPPED], 0);
	split_scratch_release(&f.scratch);
}

static void test_nameless_usage_has_its_idle_share(void **state)
{
	struct fixture f = { 0 };
	const struct attribution_input input = { .energy_uj = 800,
						 .idle_uj = 800,
						 .count = PARTIES,
						 .dynamic_weights = usage,
						 .idle_share = IDLE_SHARE_USAGE,
						 .idle_weights = usage,
						 .dropped_weight = 40 };

	assert_int_equal(attribute(&f, &input), 0);
	assert_int_equal(f.parts[MODE_IDLE][1], 300);
	assert_int_equal(f.result.unattributed_uj[MODE_IDLE][UNATTRIBUTED_DROPPED], 400);
	split_scratch_release(&f.scratch);
}

/* Work without a name has its part of shared idle energy by CPU time, whatever the rule is. */
static void test_idle_usage_is_cpu_time(void **state)
{
	struct fixture f = { 0 };
	const struct attribution_input input = { .energy_uj = 1600,
						 .idle_uj = 800,
						 .count = PARTIES,
						 .rule = SHARE_CYCLES,
						 .dynamic_weights = usage,
						 .dropped_weight = 0,
						 .idle_share = IDLE_SHARE_USAGE,
						 .idle_weights = usage,
						 .time_weights = usage,
						 .time_dropped = 40 };

	assert_int_equal(attribute(&f, &input), 0);
	assert_int_equal(f.parts[MODE_DYNAMIC][1], 600);
	assert_int_equal(f.parts[MODE_IDLE][1], 300);
	assert_int_equal(f.result.unattributed_uj[MODE_DYNAMIC][UNATTRIBUTED_DROPPED], 0);
	assert_int_equal(f.result.unattributed_uj[MODE_IDLE][UNATTRIBUTED_DROPPED], 400);
	split_scratch_release(&f.scratch);
}

static void test_unseen_usage_has_its_share(void **state)
{
	struct fixture f = { 0 };
	struct attribution_input input = { .energy_uj = 1600,
					   .idle_uj = 800,
					   .count = PARTIES,
					   .dynamic_weights = usage,
					   .idle_share = IDLE_SHARE_USAGE,
					   .idle_weights = usage,
					   .dropped_weight = 40,
					   .unseen_weight = 80 };

	assert_int_equal(attribute(&f, &input), 0);
	for (enum energy_mode mode = MODE_DYNAMIC; mode < MODE_COUNT; mode++) {
		assert_int_equal(f.parts[mode][1], 150);
		assert_int_equal(f.result.unattributed_uj[mode][UNATTRIBUTED_DROPPED], 200);
		assert_int_equal(f.result.unattributed_uj[mode][UNATTRIBUTED_UNSEEN], 400);
	}
	input.idle_share = IDLE_SHARE_EQUAL;
	assert_int_equal(attribute(&f, &input), 0);
	assert_int_equal(f.result.unattributed_uj[MODE_IDLE][UNATTRIBUTED_UNSEEN], 0);
	split_scratch_release(&f.scratch);
}

static void test_nothing_ran(void **state)
{
	struct fixture f = { 0 };
	const uint64_t none[PARTIES] = { 0 };
	struct attribution_input input = { .energy_uj = 50,
					   .idle_uj = 70, /* an estimate above the reading */
					   .count = PARTIES,
					   .dynamic_weights = none,
					   .idle_share = IDLE_SHARE_EQUAL,
					   .idle_weights = none };

	assert_int_equal(attribute(&f, &input), 0);
	assert_int_equal(f.result.mode_uj[MODE_IDLE], 50);
	assert_int_equal(f.result.unattributed_uj[MODE_IDLE][UNATTRIBUTED_NO_ACTIVITY], 50);
	input.idle_uj = 0;
	input.count = 0;
	input.dropped_weight = 3;
	assert_int_equal(attribute(&f, &input), 0);
	assert_int_equal(f.result.unattributed_uj[MODE_DYNAMIC][UNATTRIBUTED_DROPPED], 50);
	split_scratch_release(&f.scratch);
}

static void test_overflow_is_unattributed(void **state)
{
	struct fixture f = { 0 };
	const uint64_t huge[PARTIES] = { UINT64_MAX, 1, 0 };
	const struct attribution_input input = { .energy_uj = 900,
						 .idle_uj = 400,
						 .count = PARTIES,
						 .dynamic_weights = usage,
						 .idle_share = IDLE_SHARE_SIZE,
						 .idle_weights = huge };

	assert_int_equal(attribute(&f, &input), -EOVERFLOW);
	for (size_t i = 0; i < PARTIES; i++)
		assert_int_equal(f.parts[MODE_DYNAMIC][i] | f.parts[MODE_IDLE][i], 0);
	assert_int_equal(f.result.unattributed_uj[MODE_DYNAMIC][UNATTRIBUTED_NO_ACTIVITY], 500);
	assert_int_equal(f.result.unattributed_uj[MODE_IDLE][UNATTRIBUTED_NO_ACTIVITY], 400);
	split_scratch_release(&f.scratch);
}

static void test_names(void **state)
{
	assert_string_equal(energy_mode_name(MODE_DYNAMIC), "dynamic");
	assert_string_equal(energy_mode_name(MODE_IDLE), "idle");
	assert_string_equal(unattributed_reason_name(UNATTRIBUTED_IDLE_POLICY), "idle_policy");
	assert_string_equal(unattributed_reason_name(UNATTRIBUTED_NO_ACTIVITY), "no_activity");
	assert_string_equal(unattributed_reason_name(UNATTRIBUTED_DROPPED), "dropped");
	assert_string_equal(unattributed_reason_name(UNATTRIBUTED_UNSEEN), "unseen");
	assert_string_equal(idle_share_name(IDLE_SHARE_NODE), "node");
	assert_string_equal(idle_share_name(IDLE_SHARE_EQUAL), "equal");
}

#define MANY 12

struct random_case {
	struct split_scratch scratch;
	uint64_t dynamic[MANY], idle[MANY], parts[MODE_COUNT][MANY];
};

static void draw_weights(struct property_source *source, uint64_t *weights, size_t n)
{
	for (size_t i = 0; i < n; i++)
		weights[i] = draw_chance(source, 3)      ? 0
			     : draw_chance(source, 1000) ? draw_scaled(source)
							 : draw_below(source, UINT64_MAX / 64);
}

static const char *zone_conserves(struct property_source *source, void *userdata)
{
	struct random_case *c = userdata;
	struct attribution_input input = { .dynamic_weights = c->dynamic, .idle_weights = c->idle };
	struct attribution_result result = { .parts = { c->parts[0], c->parts[1] } };
	unsigned __int128 all = 0;
	int r;

	input.count = draw_below(source, MANY + 1);
	input.energy_uj = draw_scaled(source);
	input.idle_uj =
		draw_chance(source, 4) ? draw_scaled(source) : draw_below(source, input.energy_uj);
	input.idle_share = (enum idle_share)draw_below(source, IDLE_SHARE_EQUAL + 1);
	draw_weights(source, c->dynamic, input.count);
	draw_weights(source, c->idle, input.count);
	input.dropped_weight = draw_chance(source, 2) ? draw_below(source, UINT64_MAX / 8) : 0;
	input.unseen_weight = draw_chance(source, 2) ? draw_below(source, UINT64_MAX / 8) : 0;
	r = attribute_zone(&input, &result, &c->scratch);
	if (r < 0 && r != -EOVERFLOW)
		return "an unknown failure";
	if (result.mode_uj[0] + result.mode_uj[1] != input.energy_uj)
		return "the modes do not sum to the energy";
	for (size_t mode = 0; mode < MODE_COUNT; mode++) {
		unsigned __int128 sum = 0;

		for (size_t i = 0; i < input.count; i++)
			sum += c->parts[mode][i];
		for (size_t reason = 0; reason < UNATTRIBUTED_REASON_COUNT; reason++)
			sum += result.unattributed_uj[mode][reason];
		if (sum != result.mode_uj[mode])
			return "a mode is not conserved";
		all += sum;
	}
	if (all != input.energy_uj)
		return "energy is not conserved";
	for (size_t i = 0; i < input.count; i++) {
		if (!c->dynamic[i] && c->parts[MODE_DYNAMIC][i])
			return "who did not run was charged";
	}
	return NULL;
}

static void test_random_cases(void **state)
{
	struct random_case c = { 0 };
	bool holds = property_check("attribute", zone_conserves, &c, 1000000);

	split_scratch_release(&c.scratch);
	assert_true(holds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idle_stays_on_the_node),
		cmocka_unit_test(test_idle_is_shared_by_size),
		cmocka_unit_test(test_nameless_usage_has_its_idle_share),
		cmocka_unit_test(test_idle_usage_is_cpu_time),
		cmocka_unit_test(test_unseen_usage_has_its_share),
		cmocka_unit_test(test_nothing_ran),
		cmocka_unit_test(test_overflow_is_unattributed),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_random_cases),
	};

	return unit_run(tests);
}
