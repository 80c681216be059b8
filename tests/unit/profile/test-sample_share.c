// SPDX-License-Identifier: Apache-2.0
#include "profile/sample_share.h"

#include "tests/rig/property.h"
#include "tests/unit/unit.h"

static uint32_t node_of(struct profile *profile, const char *name)
{
	return profile_child(profile, PROFILE_ROOT, profile_frame(profile, name, FRAME_USER));
}

/* An interval without a sample follows the last samples; before the first one energy waits. */
static void energy_follows_samples(void **state)
{
	struct share_scratch scratch = { .size = 0 };
	struct sample_share share = { .count = 0 };
	struct profile profile;
	uint32_t a, b;

	assert_int_equal(profile_init(&profile, 100), 0);
	a = node_of(&profile, "a");
	b = node_of(&profile, "b");
	sample_share_charge(&share, &profile, (struct share_amounts){ 5, 50 }, &scratch);
	assert_true(profile_sum_uj(&profile, RUN_NOW) == 0);
	assert_int_equal(sample_share_add(&share, a, 3), 0);
	assert_int_equal(sample_share_add(&share, b, 1), 0);
	sample_share_charge(&share, &profile, (struct share_amounts){ 95, 950 }, &scratch);
	sample_share_charge(&share, &profile, (struct share_amounts){ 100, 0 }, &scratch);
	assert_true(profile.nodes[a].energy_uj[RUN_NOW] == 150);
	assert_true(profile.nodes[b].energy_uj[RUN_NOW] == 50);
	assert_true(profile.nodes[a].samples == 1 && profile.nodes[b].samples == 1);
	assert_int_equal(sample_share_add(&share, b, 7), 0);
	sample_share_charge(&share, &profile, (struct share_amounts){ 10, 4 }, &scratch);
	assert_true(profile.nodes[a].energy_uj[RUN_NOW] == 150);
	assert_true(profile.nodes[b].energy_uj[RUN_NOW] == 60);
	sample_share_charge(&share, &profile, (struct share_amounts){ 0, 100 }, &scratch);
	assert_true(profile.nodes[a].cpu_ns == 750 && profile.nodes[b].cpu_ns == 254);
	assert_true(sample_share_end(&share, &profile, &scratch).cpu_ns == 0);
	assert_true(profile.nodes[b].cpu_ns == 354);
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
	struct sample_share share = { .count = 0 };
	struct share_amounts charged = { 0 }, waiting;
	struct profile profile;
	bool failed = profile_init(&profile, 8) < 0;

	for (uint64_t i = draw_below(source, 20); i > 0; i--) {
		uint64_t energy_uj = draw_below(source, 2) * draw_below(source, 1000000);
		uint64_t cpu_ns = draw_below(source, 1000000000);

		for (uint64_t n = draw_below(source, 5); n > 0; n--) {
			const char name[] = { (char)('a' + draw_below(source, 12)), '\0' };

			failed |= sample_share_add(&share, node_of(&profile, name),
						   1 + draw_below(source, 1000000000)) < 0;
		}
		sample_share_charge(&share, &profile, (struct share_amounts){ energy_uj, cpu_ns },
				    &intervals->scratch);
		charged.energy_uj += energy_uj;
		charged.cpu_ns += cpu_ns;
	}
	waiting = sample_share_end(&share, &profile, &intervals->scratch);
	waiting.energy_uj += profile_sum_uj(&profile, RUN_NOW);
	for (uint32_t i = 0; i < profile.node_count; i++)
		waiting.cpu_ns += profile.nodes[i].cpu_ns;
	sample_share_release(&share);
	profile_release(&profile);
	if (failed)
		return "out of memory";
	if (waiting.cpu_ns != charged.cpu_ns)
		return "a nanosecond is lost";
	return waiting.energy_uj == charged.energy_uj ? NULL : "a microjoule is lost";
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
		cmocka_unit_test(random_intervals_are_exact),
	};

	return unit_run(tests);
}
