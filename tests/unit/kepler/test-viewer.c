// SPDX-License-Identifier: Apache-2.0
#include "kepler/pages/viewer.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/num.h"
#include "host/proc.h"
#include "snapshot/power_picture.h"
#include "tests/unit/unit.h"

#define OWN   990
#define GROUP 991
#define OTHER 1000

static void the_option_decides_what_others_see(void **state)
{
	static const struct {
		enum local_everyone everyone;
		struct http_peer_user user;
		enum sight sight;
	} cases[] = {
		{ EVERYONE_NONE, { .uid = 0, .gid = 0 }, SIGHT_ALL },
		{ EVERYONE_NONE, { .uid = OWN, .gid = 1 }, SIGHT_ALL },
		{ EVERYONE_NONE, { .uid = OTHER, .gid = GROUP }, SIGHT_ALL },
		{ EVERYONE_NONE, { 0, OTHER, OTHER, 2, { 27, GROUP } }, SIGHT_ALL },
		{ EVERYONE_NONE, { 0, OTHER, OTHER, 1, { 27 } }, SIGHT_NONE },
		{ EVERYONE_OWN, { 0, OTHER, OTHER, 1, { 27 } }, SIGHT_OWN },
		{ EVERYONE_OWN, { .uid = 0, .gid = 0 }, SIGHT_ALL },
		{ EVERYONE_ALL, { 0, OTHER, OTHER, 1, { 27 } }, SIGHT_ALL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct viewing viewing = {
			.everyone = cases[i].everyone, .own = OWN, .group = GROUP, .proc_fd = -1
		};
		const struct viewer viewer = viewer_of_user(&viewing, &cases[i].user);

		assert_int_equal(viewer.sight, cases[i].sight);
		/* Only a user that sees all under each value of the option is trusted. */
		assert_int_equal(viewer.is_trusted, i < 4 || i == 6);
		assert_int_equal(viewer.uid, cases[i].user.uid);
	}
}

static void a_peer_without_a_user_sees_nothing(void **state)
{
	struct viewing viewing = { .everyone = EVERYONE_OWN, .own = OWN, .group = (gid_t)-1 };
	const struct http_peer_user user = { .uid = OTHER, .gid = (gid_t)-1 };

	assert_int_equal(viewer_of_user(&viewing, NULL).sight, SIGHT_NONE);
	assert_int_equal(viewer_of_user(&viewing, &user).sight, SIGHT_OWN); /* no group at all */
	viewing.everyone = EVERYONE_ALL;
	assert_int_equal(viewer_of_user(&viewing, NULL).sight, SIGHT_ALL);
}

static void a_user_has_a_turn_once_per_second(void **state)
{
	const uint64_t at = 5 * NSEC_PER_SEC;
	struct viewer_times times = { 0 };

	assert_true(viewer_take_turn(&times, OTHER, at));
	assert_false(viewer_take_turn(&times, OTHER, at + NSEC_PER_SEC - VIEWER_EARLY_NS - 1));
	assert_true(viewer_take_turn(&times, OTHER, at + NSEC_PER_SEC));
	for (uid_t uid = 1; uid < VIEWERS_MAX; uid++)
		assert_true(viewer_take_turn(&times, uid, at + NSEC_PER_SEC));
	assert_false(viewer_take_turn(&times, VIEWERS_MAX, at + NSEC_PER_SEC)); /* too many */
	assert_true(viewer_take_turn(&times, VIEWERS_MAX, at + 2 * NSEC_PER_SEC));
}

/* Intervals of a second are early or late by a little; over many, no turn is gained by it. */
static void a_turn_may_be_early_but_not_again(void **state)
{
	const uint64_t late_ns = VIEWER_EARLY_NS / 3;
	struct viewer_times times = { 0 };
	uint64_t at = 5 * NSEC_PER_SEC;
	unsigned turns = 0;

	for (unsigned i = 0; i < 100; i++, at += NSEC_PER_SEC)
		assert_true(viewer_take_turn(&times, OTHER, i % 2 ? at - late_ns : at + late_ns));
	for (unsigned i = 0; i < 1000; i++, at += NSEC_PER_SEC / 1000 * 975)
		turns += viewer_take_turn(&times, OTHER, at);
	assert_in_range(turns, 700, 975); /* in 975 s */
	at += NSEC_PER_SEC;
	assert_true(viewer_take_turn(&times, OTHER, at));
	assert_true(viewer_take_turn(&times, OTHER, at + NSEC_PER_SEC - VIEWER_EARLY_NS));
	assert_false(viewer_take_turn(&times, OTHER, at + 2 * (NSEC_PER_SEC - VIEWER_EARLY_NS)));
}

/* A pid that was reused belongs to another process. */
static void a_process_has_its_user_and_its_start(void **state)
{
	const int proc_fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct viewer viewer = { .sight = SIGHT_OWN, .uid = getuid(), .proc_fd = proc_fd };
	struct power_row row = { .pid = (uint32_t)getpid() };
	struct proc_stat stat;

	assert_int_equal(proc_read_stat(proc_fd, row.pid, &stat), 0);
	row.start_ns = proc_start_ns(&stat);
	assert_true(viewer_owns(&viewer, &row));
	row.start_ns += 2 * 1000000000ULL;
	assert_false(viewer_owns(&viewer, &row));
	row.start_ns -= 2 * 1000000000ULL;
	viewer.uid++;
	assert_false(viewer_owns(&viewer, &row));
	row.pid = 0;
	viewer.uid--;
	assert_false(viewer_owns(&viewer, &row));
	(void)close(proc_fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_option_decides_what_others_see),
		cmocka_unit_test(a_peer_without_a_user_sees_nothing),
		cmocka_unit_test(a_user_has_a_turn_once_per_second),
		cmocka_unit_test(a_turn_may_be_early_but_not_again),
		cmocka_unit_test(a_process_has_its_user_and_its_start),
	};

	return unit_run(tests);
}
