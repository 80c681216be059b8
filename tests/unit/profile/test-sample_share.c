// SPDX-License-Identifier: Apache-2.0
#include "profile/sample_share.h"

#include "tests/rig/property.h"
#include "tests/unit/unit.h"

static uint32_t node_of(struct profile *profile, const char *name)
{
	return profile_child(profile, PROFILE_ROOT, profile_frame(profile, name, FRAME_USER));
}

static void charge(struct sample_share *share, struct profile *profile, uint64_t energy_uj,
		   uint64_t cpu_ns, struct share_scratch *scratch)
{
	const struct share_amounts amounts = { .energy_uj = { energy_uj }, .cpu_ns = cpu_ns };

	sample_share_charge(share, profile, &amounts, scratch);
}

/* An interval without a sample follows the last samples; before the first one energy waits. */
static void energy_follows_samples(void **state)
{
	struct share_scratch scratch = { .size = 0 };
	struct sample_share share = { .lists[0].count = 0 };
	struct profile profile;
	uint32_t a, b;

	assert_int_equal(profile_init(&profile, 100), 0);
	a = node_of(&profile, "a");
	b = node_of(&profile, "b");
	charge(&share, &profile, 5, 50, &scratch);
	assert_true(profile_sum_uj(&profile, RUN_NOW) == 0);
	assert_int_equal(sample_share_add(&share, SAMPLED_BY_TIME, a, 3), 0);
	assert_int_equal(sample_share_add(&share, SAMPLED_BY_TIME, b, 1), 0);
	charge(&share, &profile, 95, 950, &scratch);
	charge(&share, &profile, 100, 0, &scratch);
	assert_true(profile.nodes[a].energy_uj[RUN_NOW] == 150);
	assert_true(profile.nodes[b].energy_uj[RUN_NOW] == 50);
	assert_true(profile.nodes[a].samples == 1 && profile.nodes[b].samples == 1);
	assert_int_equal(sample_share_add(&share, SAMPLED_BY_TIME, b, 7), 0);
	charge(&share, &profile, 10, 4, &scratch);
	assert_true(profile.nodes[a].energy_uj[RUN_NOW] == 150);
	assert_true(profile.nodes[b].energy_uj[RUN_NOW] == 60);
	charge(&share, &profile, 0, 100, &scratch);
	assert_true(profile.nodes[a].cpu_ns == 750 && profile.nodes[b].cpu_ns == 254);
	assert_true(sample_share_end(&share, &profile, &scratch).cpu_ns == 0);
	assert_true(profile.nodes[b].cpu_ns == 354);
	sample_share_release(&share);
	share_scratch_release(&scratch);
	profile_release(&profile);
}

/*
 * One function has all cache misses, the other nearly all time: energy that follows misses goes to
 * the first, whatever time says, and CPU time to neither's disadvantage.
 */
static void energy_follows_its_own_samples(void **state)
{
	const struct share_amounts amounts = {
		.energy_uj = { [SAMPLED_BY_TIME] = 100, [SAMPLED_BY_MISSES] = 70 },
		.cpu_ns = 1000,
	};
	struct share_scratch scratch = { .size = 0 };
	struct sample_share share = { .lists[0].count = 0 };
	struct profile profile;
	uint32_t misses, computes;

	assert_int_equal(profile_init(&profile, 100), 0);
	misses = node_of(&profile, "misses");
	computes = node_of(&profile, "computes");
	assert_int_equal(sample_share_add(&share, SAMPLED_BY_TIME, computes, 9), 0);
	assert_int_equal(sample_share_add(&share, SAMPLED_BY_TIME, misses, 1), 0);
	sample_share_charge(&share, &profile, &amounts, &scratch);
	assert_true(profile.nodes[misses].energy_uj[RUN_NOW] == 10);
	assert_true(profile.nodes[computes].energy_uj[RUN_NOW] == 90);
	assert_int_equal(sample_share_add(&share, SAMPLED_BY_MISSES, misses, 12345), 0);
	sample_share_charge(&share, &profile, &amounts, &scratch);
	assert_true(profile.nodes[misses].energy_uj[RUN_NOW] == 10 + 10 + 140);
	assert_true(profile.nodes[computes].energy_uj[RUN_NOW] == 180);
	assert_true(profile.nodes[misses].cpu_ns == 200 && profile.nodes[computes].cpu_ns == 1800);
	assert_true(profile.nodes[misses].samples == 1 && profile.nodes[computes].samples == 1);
	sample_share_release(&share);
	share_scratch_release(&scratch);
	profile_release(&profile);
}

/* A process without a single sample by misses has the energy of its misses by time, at the end. */
static void energy_without_samples_of_its_own_follows_others(void **state)
{
	const struct share_amounts amounts = { .energy_uj = { [SAMPLED_BY_MISSES] = 71 } };
	struct share_scratch scratch = { .size = 0 };
	struct sample_share share = { .lists[0].count = 0 };
	struct profile profile;
	uint32_t node;

	assert_int_equal(profile_init(&profile, 100), 0);
	node = node_of(&profile, "computes");
	assert_int_equal(sample_share_add(&share, SAMPLED_BY_TIME, node, 9), 0);
	sample_share_charge(&share, &profile, &amounts, &scratch);
	assert_true(profile_sum_uj(&profile, RUN_NOW) == 0);
	assert_true(share_amounts_uj(&share.waiting) == 71);
	(void)sample_share_end(&share, &profile, &scratch);
	assert_true(profile.nodes[node].energy_uj[RUN_NOW] == 71);
	assert_true(profile.nodes[node].samples == 1);
	sample_share_release(&share);
	share_scratch_release(&scratch);
	profile_release(&profile);
}

struct intervals {
	struct share_scratch scratch;
};

static const char *nothing_is_lost(struct property_source *source, void *userdata)
{
	struct intervals *intervals = userdata;
	struct sample_share share = { .lists[0].count = 0 };
	struct share_amounts charged = { .cpu_ns = 0 }, waiting;
	uint64_t energy_uj;
	struct profile profile;
	bool failed = profile_init(&profile, 8) < 0;

	for (uint64_t i = draw_below(source, 20); i > 0; i--) {
		struct share_amounts amounts = { .cpu_ns = draw_below(source, 1000000000) };

		for (size_t clock = 0; clock < SAMPLE_CLOCKS; clock++) {
			amounts.energy_uj[clock] =
				draw_below(source, 2) * draw_below(source, 1000000);
			charged.energy_uj[clock] += amounts.energy_uj[clock];
		}
		charged.cpu_ns += amounts.cpu_ns;
		for (uint64_t n = draw_below(source, 5); n > 0; n--) {
			const char name[] = { (char)('a' + draw_below(source, 12)), '\0' };

			failed |= sample_share_add(
					  &share,
					  (enum sample_clock)draw_below(source, SAMPLE_CLOCKS),
					  node_of(&profile, name),
					  1 + draw_below(source, 1000000000)) < 0;
		}
		sample_share_charge(&share, &profile, &amounts, &intervals->scratch);
	}
	waiting = sample_share_end(&share, &profile, &intervals->scratch);
	energy_uj = share_amounts_uj(&waiting) + profile_sum_uj(&profile, RUN_NOW);
	for (uint32_t i = 0; i < profile.node_count; i++)
		waiting.cpu_ns += profile.nodes[i].cpu_ns;
	sample_share_release(&share);
	profile_release(&profile);
	if (failed)
		return "out of memory";
	if (waiting.cpu_ns != charged.cpu_ns)
		return "a nanosecond is lost";
	return energy_uj == share_amounts_uj(&charged) ? NULL : "a microjoule is lost";
}

static void random_intervals_are_exact(void **state)
{
	struct intervals intervals = { .scratch = { .size = 0 } };

	assert_true(property_check("intervals", nothing_is_lost, &intervals, 20000));
	share_scratch_release(&intervals.scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(energy_follows_samples),
		cmocka_unit_test(energy_follows_its_own_samples),
		cmocka_unit_test(energy_without_samples_of_its_own_follows_others),
		cmocka_unit_test(random_intervals_are_exact),
	};

	return unit_run(tests);
}
