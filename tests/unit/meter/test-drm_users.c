// SPDX-License-Identifier: Apache-2.0
/* Board 3 has the nodes card1 and renderD129; time is the test's. */
#include "meter/drm/drm_users.h"

#include "fake_device_files.h"
#include "tests/unit/unit.h"

#define ADDRESS "0000:4d:00.0"
#define BOARD   3
#define DEVICE  99
#define CARD    1
#define RENDER  129
#define MS      NSEC_PER_MSEC

static struct fake_device_files fake;
static struct drm_users *users;
static uint64_t now_ns;

static void open_users(bool wants_holders)
{
	assert_int_equal(drm_users_new(&fake.files, wants_holders, &users), 0);
	drm_users_add_node(users, CARD, BOARD);
	drm_users_add_node(users, RENDER, BOARD);
	now_ns = 1000 * NSEC_PER_SEC;
}

static int setup(void **state)
{
	fake_files_init(&fake);
	open_users(false);
	return 0;
}

static int teardown(void **state)
{
	drm_users_free(users);
	assert_int_equal(fake.refs, 0);
	fake_files_release(&fake);
	return 0;
}

/* A second later. */
static void look(void)
{
	now_ns += NSEC_PER_SEC;
	(void)drm_users_read(users, BOARD, DEVICE, ADDRESS, now_ns);
}

static void client(uint32_t pid, uint32_t fd, unsigned id, unsigned busy_ms)
{
	fake_client(&fake, pid, fd, RENDER, ADDRESS, id, busy_ms);
}

static void expect(uint32_t pid, uint64_t busy_ms)
{
	size_t count;
	const struct device_use *uses = drm_users_uses(users, &count);
	uint64_t busy_ns = 0;

	for (size_t i = 0; i < count; i++) {
		assert_int_equal(uses[i].device, DEVICE);
		busy_ns += uses[i].pid == pid ? uses[i].busy_ns : 0;
	}
	assert_int_equal(busy_ns, busy_ms * MS);
}

static void expect_none(void)
{
	size_t count;

	(void)drm_users_uses(users, &count);
	assert_int_equal(count, 0);
}

static void each_has_what_it_used(void **state)
{
	client(10, 5, 1, 4000);
	client(11, 5, 2, 100);
	look();
	expect_none();
	client(10, 5, 1, 4600);
	client(11, 5, 2, 400);
	look();
	expect(10, 600);
	expect(11, 300);
	assert_int_equal(fake.opened, 2); /* once each */
	drm_users_clear(users);
	expect_none();
}

static void one_that_was_opened_since_counts_from_its_beginning(void **state)
{
	client(10, 5, 1, 0);
	look();
	client(11, 5, 2, 250);
	look();
	expect(11, 250);
	/* After a search that failed, or was cut, it may have been there for longer. */
	fake.also.beyond = 1;
	look();
	client(12, 5, 3, 250);
	look();
	expect(12, 0);
	fake.also.beyond = 0;
	fake.error = -EIO;
	look();
	assert_int_equal(drm_users_state(users).error, -EIO);
	fake.error = 0;
	client(13, 5, 4, 250);
	look();
	expect(13, 0);
	assert_int_equal(drm_users_state(users).error, 0);
}

/* A copied or inherited descriptor is one client: of the lowest pid, while that lives. */
static void a_client_counts_once(void **state)
{
	client(12, 5, 1, 1000); /* the child is found first */
	client(10, 5, 1, 1000);
	client(10, 6, 1, 1000);
	look();
	client(12, 5, 1, 1400);
	client(10, 5, 1, 1400);
	client(10, 6, 1, 1400);
	look();
	expect(10, 400);
	expect(12, 0);
	fake_close(&fake, 10, 5);
	client(10, 6, 1, 1500);
	client(12, 5, 1, 1500);
	look();
	expect(10, 100); /* by its other descriptor */
	expect(12, 0);
	fake_close(&fake, 10, 6);
	client(12, 5, 1, 1800);
	look();
	expect(12, 300);
}

/* A descriptor that is sent to a daemon takes no energy with it, however low the daemon's pid. */
static void one_that_is_passed_on_stays_its_opener_s(void **state)
{
	client(12, 5, 1, 0);
	look();
	fake.other_pid = 10;
	client(10, 7, 1, 0);
	client(11, 7, 1, 0); /* in the opener's own control group, and later */
	for (unsigned busy_ms = 0; busy_ms < 12 * 400; busy_ms += 400) {
		client(12, 5, 1, busy_ms + 400);
		client(10, 7, 1, busy_ms + 400);
		client(11, 7, 1, busy_ms + 400);
		look();
	}
	expect(12, 400); /* also after all copies were looked at again */
	expect(10, 0);
	expect(11, 0);
	fake_close(&fake, 12, 5);
	look();
	client(10, 7, 1, 5000);
	client(11, 7, 1, 5000);
	look();
	expect(10, 0);
	expect(11, 200);
	fake_close(&fake, 11, 7);
	look();
	client(10, 7, 1, 5300);
	look();
	expect(10, 0);
	expect(0, 300);
}

/* A client seen at the same time in two control groups was opened in an unknown one. */
static void a_client_without_a_known_opener_has_no_process(void **state)
{
	fake.other_pid = 10;
	client(10, 5, 1, 0);
	client(12, 5, 1, 0);
	look();
	client(10, 5, 1, 400);
	client(12, 5, 1, 400);
	look();
	expect(10, 0);
	expect(12, 0);
	expect(0, 400);
}

/* A list that was cut says nothing about clients that are not in it. */
static void what_is_read_stays_though_a_list_is_cut(void **state)
{
	client(10, 5, 1, 0);
	client(11, 5, 2, 0);
	look();
	fake.count--; /* others have taken its place in the list */
	fake.also.beyond = 5000;
	look();
	fake.count++;
	client(10, 5, 1, 300);
	client(11, 5, 2, 200);
	fake.count--;
	look();
	fake.count++;
	expect(10, 300);
	expect(11, 200);
	fake_close(&fake, 11, 5); /* what has ended is gone in spite of that */
	look();
	look();
	assert_int_equal(fake.opened, 2); /* it is not tried again */
}

/* The descriptor of one that was a copy is another file's now: found at the tenth search. */
static void a_copy_may_become_another_client(void **state)
{
	unsigned seconds = 0;

	client(10, 5, 1, 0);
	client(10, 6, 1, 0);
	look();
	look();
	for (unsigned busy_ms = 0; seconds < 12; seconds++) {
		client(10, 6, 2, busy_ms += 100);
		look();
	}
	expect(10, 100);
}

static void a_shared_primary_node_belongs_to_no_process(void **state)
{
	fake_client(&fake, 10, 5, CARD, ADDRESS, 1, 0); /* the session manager */
	fake_client(&fake, 11, 5, CARD, ADDRESS, 1, 0);
	look();
	fake_client(&fake, 10, 5, CARD, ADDRESS, 1, 500);
	look();
	expect(10, 0);
	expect(0, 500);
	fake_close(&fake, 11, 5);
	look();
	fake_client(&fake, 10, 5, CARD, ADDRESS, 1, 700);
	look();
	expect(10, 200);
}

static void a_board_that_ends_is_found_again(void **state)
{
	client(10, 5, 1, 100);
	look();
	fake_close(&fake, 10, 5);
	look();
	expect_none();
	client(10, 5, 9, 5000); /* another client with the same number, since the last search */
	look();
	expect(10, 1000);
	client(10, 5, 9, 5300);
	look();
	expect(10, 300);
}

static void files_of_other_boards_are_left_alone(void **state)
{
	fake_client(&fake, 10, 5, 128, "0000:03:00.0", 1, 0);
	look();
	assert_int_equal(fake.opened, 0);
	fake_client(&fake, 10, 6, RENDER, "0000:03:00.0", 1, 0); /* says that it is another's */
	look();
	fake_client(&fake, 10, 6, RENDER, "0000:03:00.0", 1, 500);
	look();
	expect_none();
	assert_int_equal(fake.opened, 1);
	client(10, 7, 2, 0);
	look();
	drm_users_forget_nodes(users); /* the driver is unloaded */
	client(10, 7, 2, 500);
	look();
	expect_none();
}

static void holders_of_the_board_are_reported_on_request(void **state)
{
	const struct device_use *uses;
	size_t count;

	drm_users_free(users);
	open_users(true);
	client(10, 5, 1, 0);
	fake_denied(&fake, 11, 5, RENDER);
	look();
	uses = drm_users_uses(users, &count);
	assert_int_equal(count, 2);
	assert_true(uses[0].held && uses[1].held && uses[1].pid == 11);
}

static void what_is_not_known_is_counted(void **state)
{
	struct drm_users_state seen;

	client(10, 5, 1, 0);
	fake_denied(&fake, 11, 5, RENDER);
	fake_text(&fake, 12, 5, RENDER, "pos:\t0\nflags:\t02\n");
	fake.also.hidden = 7;
	look();
	look();
	seen = drm_users_state(users);
	assert_int_equal(seen.denied, 1);
	assert_int_equal(seen.hidden, 7);
	assert_int_equal(seen.silent, 1);
	assert_int_equal(seen.speaking, 1);
	assert_int_equal(fake.opened, 3); /* not again and again */
}

/* Each takes 12 ms of a CPU: there is one in 3 s. And one that takes a minute comes in 30 s. */
static void searches_take_a_part_of_a_cpu_at_most(void **state)
{
	for (int i = 0; i < 10; i++)
		look();
	assert_int_equal(fake.searches, 10);
	fake.also.cpu_ns = 12 * MS;
	for (int i = 0; i < 10; i++)
		look();
	assert_int_equal(fake.searches, 14);
	fake.also.cpu_ns = 60 * NSEC_PER_SEC;
	for (int i = 0; i < 33; i++)
		look();
	assert_int_equal(fake.searches, 16);
}

static void the_rest_belongs_to_no_process(void **state)
{
	client(10, 5, 1, 0);
	look();
	client(10, 5, 1, 200);
	look();
	drm_users_add_rest(users, DEVICE, 150 * MS);
	expect(0, 0);
	drm_users_add_rest(users, DEVICE, 800 * MS);
	expect(10, 200);
	expect(0, 600);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_has_what_it_used, setup, teardown),
		cmocka_unit_test_setup_teardown(one_that_was_opened_since_counts_from_its_beginning,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_client_counts_once, setup, teardown),
		cmocka_unit_test_setup_teardown(one_that_is_passed_on_stays_its_opener_s, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_client_without_a_known_opener_has_no_process,
						setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_read_stays_though_a_list_is_cut, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_copy_may_become_another_client, setup, teardown),
		cmocka_unit_test_setup_teardown(a_shared_primary_node_belongs_to_no_process, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_board_that_ends_is_found_again, setup, teardown),
		cmocka_unit_test_setup_teardown(files_of_other_boards_are_left_alone, setup,
						teardown),
		cmocka_unit_test_setup_teardown(holders_of_the_board_are_reported_on_request, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_is_not_known_is_counted, setup, teardown),
		cmocka_unit_test_setup_teardown(searches_take_a_part_of_a_cpu_at_most, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_rest_belongs_to_no_process, setup, teardown),
	};

	return unit_run(tests);
}
