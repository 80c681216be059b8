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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_stacks_are_one_node),
		cmocka_unit_test(names_are_clean),
		cmocka_unit_test(at_the_limit_a_stack_is_cut),
	};

	return unit_run(tests);
}
