// SPDX-License-Identifier: Apache-2.0
#include "profile/profile.h"

#include "tests/unit/unit.h"

static void equal_stacks_are_one_node(void **state)
{
	struct profile profile;
	uint32_t user, kernel, node;

	assert_int_equal(profile_init(&profile, 100), 0);
	user = profile_frame(&profile, "read", FRAME_USER);
	kernel = profile_frame(&profile, "read", FRAME_KERNEL);
	assert_true(user != kernel);
	assert_int_equal(profile_frame(&profile, "read", FRAME_USER), user);
	node = profile_child(&profile, profile_child(&profile, PROFILE_ROOT, user), kernel);
	assert_int_equal(
		profile_child(&profile, profile_child(&profile, PROFILE_ROOT, user), kernel), node);
	assert_int_equal(profile.node_count, 3);
	profile_release(&profile);
}

static void names_are_clean(void **state)
{
	struct profile profile;
	char text[2000];

	assert_int_equal(profile_init(&profile, 100), 0);
	assert_string_equal(
		profile.frames[profile_frame(&profile, "a;b\x1b]0\n\xff\xc3\xa9", FRAME_USER)].name,
		"a:b?]0??\xc3\xa9");
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_int_equal(strlen(profile.frames[profile_frame(&profile, text, FRAME_USER)].name),
			 PROFILE_NAME_MAX);
	profile_release(&profile);
}

static void at_the_limit_a_stack_is_cut(void **state)
{
	struct profile profile;
	uint32_t frame, node;

	assert_int_equal(profile_init(&profile, 2), 0);
	frame = profile_frame(&profile, "a", FRAME_USER);
	node = profile_child(&profile, PROFILE_ROOT, frame);
	assert_int_equal(profile_child(&profile, node, frame), node);
	assert_int_equal(profile.cut, 1);
	assert_int_equal(profile_frame(&profile, "b", FRAME_USER), 0);
	profile_release(&profile);
}

/* Two addresses of one function, below one caller and below each other. */
static void renamed_frames_become_one(void **state)
{
	struct profile profile;
	uint32_t caller, first, second, module, node;
	const char *names[4] = { NULL };

	assert_int_equal(profile_init(&profile, 100), 0);
	caller = profile_frame(&profile, "main", FRAME_USER);
	first = profile_frame(&profile, "1000", FRAME_KERNEL);
	second = profile_frame(&profile, "1008", FRAME_KERNEL);
	module = profile_module(&profile, "/bin/true", NULL);
	profile_place(&profile, caller, module);
	caller = profile_child(&profile, PROFILE_ROOT, caller);
	node = profile_child(&profile, caller, first);
	profile.nodes[node].energy_uj[RUN_NOW] = 5;
	profile.nodes[node].samples = 1;
	node = profile_child(&profile, caller, second);
	profile.nodes[node].energy_uj[RUN_NOW] = 7;
	profile.nodes[node].energy_uj[RUN_BEFORE] = 2;
	profile.nodes[node].cpu_ns = 9;
	profile.nodes[profile_child(&profile, node, first)].energy_uj[RUN_NOW] = 11;
	profile.nodes[PROFILE_ROOT].energy_uj[RUN_NOW] = 3;
	profile.cut = 4;
	names[first] = names[second] = "read";

	assert_int_equal(profile_rename(&profile, names), 0);
	assert_int_equal(profile.frame_count, 3);
	assert_int_equal(profile.node_count, 4);
	assert_int_equal(profile_sum_uj(&profile, RUN_NOW), 26);
	caller = profile_child(&profile, PROFILE_ROOT, profile_frame(&profile, "main", FRAME_USER));
	assert_int_equal(profile.frames[profile.nodes[caller].frame].module, module);
	first = profile_frame(&profile, "read", FRAME_KERNEL);
	node = profile_child(&profile, caller, first);
	assert_int_equal(profile.nodes[node].energy_uj[RUN_NOW], 12);
	assert_int_equal(profile.nodes[node].energy_uj[RUN_BEFORE], 2);
	assert_int_equal(profile.nodes[node].samples, 1);
	assert_int_equal(profile.nodes[node].cpu_ns, 9);
	node = profile_child(&profile, node, first);
	assert_int_equal(profile.nodes[node].energy_uj[RUN_NOW], 11);
	assert_int_equal(profile.node_count, 4);
	assert_int_equal(profile.cut, 4);
	assert_string_equal(profile.modules[0].path, "/bin/true");
	profile_release(&profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_stacks_are_one_node),
		cmocka_unit_test(names_are_clean),
		cmocka_unit_test(at_the_limit_a_stack_is_cut),
		cmocka_unit_test(renamed_frames_become_one),
	};

	return unit_run(tests);
}
