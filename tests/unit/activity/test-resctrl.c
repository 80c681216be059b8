// SPDX-License-Identifier: Apache-2.0
/* A tree as the kernel shows it: control and monitoring groups, what cannot be read. */
#include "activity/resctrl.h"

#include <errno.h>

#include "tests/unit/host/tree.h"

static void put_group(const char *path, const char *tasks, const char *domain0, const char *domain1)
{
	char full[160];

	(void)snprintf(full, sizeof(full), "fs/resctrl/%s/tasks", path);
	put(full, tasks);
	(void)snprintf(full, sizeof(full), "fs/resctrl/%s/mon_data/mon_L3_00/mbm_total_bytes",
		       path);
	put(full, domain0);
	(void)snprintf(full, sizeof(full), "fs/resctrl/%s/mon_data/mon_L3_01/mbm_total_bytes",
		       path);
	put(full, domain1);
}

static struct resctrl *open_tree(const char *sysfs)
{
	struct resctrl *resctrl = NULL;

	assert_int_equal(resctrl_open(sysfs, &resctrl), 0);
	assert_int_equal(resctrl_scan(resctrl), 0);
	return resctrl;
}

/* The group that has @pid first; the default one for 0. */
static const struct resctrl_group *group_with(const struct resctrl_reading *reading, uint32_t pid)
{
	for (uint32_t g = 0; g < reading->group_count; g++) {
		const struct resctrl_group *group = &reading->groups[g];

		if (group->pid_count ? reading->pids[group->first_pid] == pid : !pid && !g)
			return group;
	}
	return NULL;
}

static void without_a_mount_there_is_nothing(void **state)
{
	struct resctrl *resctrl = open_tree("/nonexistent");

	(void)state;
	assert_false(resctrl_read(resctrl));
	assert_int_equal(resctrl_get(resctrl).group_count, 0);
	assert_false(resctrl_get(resctrl).is_known);
	resctrl_close(resctrl);
}

/* Without a group that has tasks no traffic is told apart. */
static void the_default_group_alone_is_nothing(void **state)
{
	struct resctrl *resctrl;

	(void)state;
	put_group("", "1\n2\n", "10\n", "0\n");
	put_group("mon_groups/empty", "", "0\n", "0\n");
	resctrl = open_tree(root);
	assert_false(resctrl_read(resctrl));
	assert_false(resctrl_read(resctrl));
	assert_false(resctrl_get(resctrl).is_known);
	resctrl_close(resctrl);
}

static void each_group_has_its_own(void **state)
{
	struct resctrl_reading reading;
	struct resctrl *resctrl;

	(void)state;
	put("fs/resctrl/info/last_cmd_status", "ok\n");
	put("fs/resctrl/schemata", "L3:0=fff\n");
	put_group("", "1\n2\n", "1000\n", "1000\n");
	put_group("mon_groups/a", "100\n101\n", "100\n", "100\n");
	put_group("gold", "300\n", "500\n", "0\n");
	put_group("gold/mon_groups/b", "200\n", "50\n", "0\n");
	resctrl = open_tree(root);
	assert_true(resctrl_read(resctrl));
	assert_false(resctrl_get(resctrl).is_known); /* where counting begins */
	put_group("", "1\n2\n", "1900\n", "1100\n");
	put_group("mon_groups/a", "100\n101\n", "400\n", "150\n");
	put_group("gold", "300\n", "700\n", "10\n");
	put_group("gold/mon_groups/b", "200\n", "120\n", "0\n");
	assert_true(resctrl_read(resctrl));
	reading = resctrl_get(resctrl);
	assert_true(reading.is_known);
	assert_int_equal(reading.group_count, 4);
	assert_int_equal(group_with(&reading, 100)->bytes, 350);
	assert_int_equal(group_with(&reading, 100)->pid_count, 2);
	assert_int_equal(group_with(&reading, 0)->bytes, 1000 - 350);
	assert_int_equal(group_with(&reading, 200)->bytes, 70);
	assert_int_equal(group_with(&reading, 300)->bytes, 210 - 70);
	resctrl_close(resctrl);
}

/* The next reading has the whole time. */
static void what_is_unavailable_is_not_known(void **state)
{
	static const char *const texts[] = { "Unavailable\n", "Error\n", "Unassigned\n", "" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct resctrl_reading reading;
		struct resctrl *resctrl;

		put_group("", "1\n", "1000\n", "0\n");
		put_group("mon_groups/a", "100\n", "100\n", "0\n");
		resctrl = open_tree(root);
		assert_true(resctrl_read(resctrl));
		put_group("mon_groups/a", "100\n", "200\n", texts[i]);
		assert_true(resctrl_read(resctrl));
		assert_false(resctrl_get(resctrl).is_known);
		put_group("", "1\n", "2000\n", "0\n");
		put_group("mon_groups/a", "100\n", "300\n", "0\n");
		assert_true(resctrl_read(resctrl));
		reading = resctrl_get(resctrl);
		assert_true(reading.is_known);
		assert_int_equal(group_with(&reading, 100)->bytes, 200);
		resctrl_close(resctrl);
	}
}

static void a_counter_that_falls_begins_again(void **state)
{
	struct resctrl_reading reading;
	struct resctrl *resctrl;

	(void)state;
	put_group("", "1\n", "1000\n", "0\n");
	put_group("mon_groups/a", "100\n", "100\n", "0\n");
	resctrl = open_tree(root);
	assert_true(resctrl_read(resctrl));
	put_group("mon_groups/a", "100\n", "5\n", "0\n");
	assert_true(resctrl_read(resctrl));
	assert_false(resctrl_get(resctrl).is_known);
	put_group("mon_groups/a", "100\n", "25\n", "0\n");
	put_group("", "1\n", "1030\n", "0\n");
	assert_true(resctrl_read(resctrl));
	reading = resctrl_get(resctrl);
	assert_int_equal(group_with(&reading, 100)->bytes, 20);
	assert_int_equal(group_with(&reading, 0)->bytes, 10);
	resctrl_close(resctrl);
}

/* A scan goes on with the groups that it knows, and tasks are as they are now. */
static void a_scan_goes_on(void **state)
{
	struct resctrl_reading reading;
	struct resctrl *resctrl;
	uint32_t scans;

	(void)state;
	put_group("", "1\n", "1000\n", "0\n");
	put_group("mon_groups/a", "100\n", "100\n", "0\n");
	resctrl = open_tree(root);
	assert_true(resctrl_read(resctrl));
	scans = resctrl_get(resctrl).scans;
	put_group("", "1\n", "1500\n", "0\n");
	put_group("mon_groups/a", "102\n103\n", "130\n", "0\n");
	assert_int_equal(resctrl_scan(resctrl), 0);
	assert_true(resctrl_read(resctrl));
	reading = resctrl_get(resctrl);
	assert_true(reading.is_known);
	assert_int_not_equal(reading.scans, scans);
	assert_int_equal(group_with(&reading, 102)->bytes, 30);
	/* Another group, whose first reading says nothing. */
	put_group("mon_groups/b", "200\n", "900\n", "0\n");
	assert_int_equal(resctrl_scan(resctrl), 0);
	assert_true(resctrl_read(resctrl));
	assert_false(resctrl_get(resctrl).is_known);
	assert_true(resctrl_read(resctrl));
	assert_true(resctrl_get(resctrl).is_known);
	resctrl_close(resctrl);
}

static void groups_are_bounded(void **state)
{
	struct resctrl *resctrl;
	char path[48], pid[16];

	(void)state;
	put_group("", "1\n", "1000\n", "0\n");
	for (unsigned i = 0; i < RESCTRL_GROUPS_MAX + 8; i++) {
		(void)snprintf(path, sizeof(path), "mon_groups/g%u", i);
		(void)snprintf(pid, sizeof(pid), "%u\n", 1000 + i);
		put_group(path, pid, "0\n", "0\n");
	}
	resctrl = open_tree(root);
	assert_true(resctrl_read(resctrl));
	assert_int_equal(resctrl_get(resctrl).group_count, RESCTRL_GROUPS_MAX);
	resctrl_close(resctrl);
}

static void texts_of_the_kernel(void **state)
{
	uint64_t bytes = 0;
	uint32_t pids[3];

	(void)state;
	assert_int_equal(resctrl_parse_bytes("123\n", 4, &bytes), 0);
	assert_int_equal(bytes, 123);
	assert_int_equal(resctrl_parse_bytes("Unavailable\n", 12, &bytes), -ENODATA);
	assert_int_equal(resctrl_parse_tasks("1\n0\n22\nx\n333\n4\n", pids, 3), 3);
	assert_int_equal(pids[1], 22);
	assert_int_equal(pids[2], 333);
	assert_int_equal(resctrl_parse_tasks("", pids, 3), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(without_a_mount_there_is_nothing),
		TEST(the_default_group_alone_is_nothing),
		TEST(each_group_has_its_own),
		TEST(what_is_unavailable_is_not_known),
		TEST(a_counter_that_falls_begins_again),
		TEST(a_scan_goes_on),
		TEST(groups_are_bounded),
		cmocka_unit_test(texts_of_the_kernel),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
