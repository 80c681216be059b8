// SPDX-License-Identifier: Apache-2.0
#include "kube/pod_table.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"
#include "fake_directory.h"

static const struct pod_digest_key key = { 1, 2 };

struct plant {
	struct directory *directory;
	struct pod_table table;
};

static void set_up(struct plant *plant, size_t room, uint32_t max_pods)
{
	plant->directory = fake_directory_new(room);
	assert_non_null(plant->directory);
	pod_table_init(&plant->table, plant->directory, &key, max_pods);
	pod_table_begin(&plant->table);
}

static void tear_down(struct plant *plant)
{
	pod_table_release(&plant->table);
	fake_directory_free(plant->directory);
}

/* A pod with up to two containers; its text is made of all of them. */
static int put(struct plant *plant, const char *uid, const char *first, const char *second)
{
	struct container_names names[2] = {
		{ .names.text[LABEL_CONTAINER_ID] = first, .names.text[LABEL_POD_ID] = uid },
		{ .names.text[LABEL_CONTAINER_ID] = second, .names.text[LABEL_POD_ID] = uid }
	};
	struct pod pod = { .uid = uid, .containers = names };
	char text[64];

	pod.count = (first ? 1U : 0U) + (second ? 1U : 0U);
	(void)snprintf(text, sizeof(text), "%s %s %s", uid, first ? first : "",
		       second ? second : "");
	return pod_table_put(&plant->table, &pod, text, strlen(text), 5);
}

static bool seen(struct plant *plant, const char *text)
{
	return pod_table_seen(&plant->table, text, strlen(text));
}

/* A static pod: the same containers under the uid of the other source. */
static void containers_stay_when_their_pods_uid_changes(void **state)
{
	struct plant plant;

	(void)state;
	set_up(&plant, 64, 100);
	for (int source = 0; source < 4; source++) {
		pod_table_begin(&plant.table);
		assert_int_equal(put(&plant, source % 2 ? "mirror" : "hash", "a", "b"), 0);
		pod_table_end(&plant.table, 5);
		assert_int_equal(plant.table.count, 1);
		assert_int_equal(fake_directory_count(plant.directory), 2);
		assert_non_null(fake_directory_find(plant.directory, "a"));
	}
	pod_table_begin(&plant.table);
	pod_table_end(&plant.table, 5);
	assert_int_equal(fake_directory_count(plant.directory), 0);
	tear_down(&plant);
}

static void what_a_list_lacks_is_taken_back(void **state)
{
	struct plant plant;

	(void)state;
	set_up(&plant, 64, 100);
	assert_int_equal(put(&plant, "u1", "a", "b"), 0);
	assert_int_equal(put(&plant, "u2", "c", NULL), 0);
	assert_int_equal(put(&plant, "u3", NULL, NULL), 0);
	pod_table_end(&plant.table, 5);
	assert_int_equal(plant.table.count, 3);
	assert_int_equal(fake_directory_count(plant.directory), 3);

	pod_table_begin(&plant.table);
	assert_int_equal(put(&plant, "u2", "c", NULL), 0);
	pod_table_end(&plant.table, 5);
	assert_int_equal(plant.table.count, 1);
	assert_int_equal(fake_directory_count(plant.directory), 1);
	assert_string_equal(fake_directory_find(plant.directory, "c")->names.text[LABEL_POD_ID],
			    "u2");
	tear_down(&plant);
}

static void a_list_that_breaks_off_takes_nothing_back(void **state)
{
	struct plant plant;

	(void)state;
	set_up(&plant, 64, 100);
	assert_int_equal(put(&plant, "u1", "a", NULL), 0);
	pod_table_end(&plant.table, 5);
	pod_table_begin(&plant.table); /* and no end */
	pod_table_begin(&plant.table);
	assert_true(seen(&plant, "u1 a "));
	pod_table_end(&plant.table, 5);
	assert_non_null(fake_directory_find(plant.directory, "a"));
	tear_down(&plant);
}

static void an_unchanged_pod_costs_no_put(void **state)
{
	struct plant plant;
	uint64_t changes;

	(void)state;
	set_up(&plant, 64, 100);
	assert_false(seen(&plant, "u1 a b"));
	assert_int_equal(put(&plant, "u1", "a", "b"), 0);
	changes = plant.table.changes;
	pod_table_begin(&plant.table);
	assert_true(seen(&plant, "u1 a b"));
	assert_false(seen(&plant, "u1 a c"));
	pod_table_end(&plant.table, 5);
	assert_int_equal(fake_directory_puts(plant.directory), 2);
	assert_int_equal(plant.table.changes, changes);
	assert_int_equal(plant.table.count, 1);
	tear_down(&plant);
}

static void a_restarted_container_replaces_the_old(void **state)
{
	struct plant plant;

	(void)state;
	set_up(&plant, 64, 100);
	assert_int_equal(put(&plant, "u1", "a", "b"), 0);
	assert_int_equal(put(&plant, "u1", "a", "c"), 0);
	assert_null(fake_directory_find(plant.directory, "b"));
	assert_non_null(fake_directory_find(plant.directory, "a"));
	assert_non_null(fake_directory_find(plant.directory, "c"));
	assert_false(seen(&plant, "u1 a b")); /* that text is history */
	assert_true(seen(&plant, "u1 a c"));
	tear_down(&plant);
}

static void a_pod_without_text_is_never_seen(void **state)
{
	struct container_names names = { .names.text[LABEL_CONTAINER_ID] = "a" };
	struct pod pod = { .uid = "u1", .containers = &names, .count = 1 };
	struct plant plant;

	(void)state;
	set_up(&plant, 64, 100);
	assert_int_equal(put(&plant, "u1", "a", NULL), 0);
	assert_int_equal(pod_table_put(&plant.table, &pod, NULL, 0, 5), 0);
	assert_false(seen(&plant, "u1 a "));
	assert_int_equal(plant.table.count, 1);
	pod_table_remove(&plant.table, "u1", 5);
	pod_table_remove(&plant.table, "u1", 5);
	pod_table_remove(&plant.table, "never", 5);
	assert_int_equal(fake_directory_count(plant.directory), 0);
	tear_down(&plant);
}

static void a_full_directory_is_asked_again(void **state)
{
	struct plant plant;

	(void)state;
	set_up(&plant, 1, 100);
	assert_int_equal(put(&plant, "u1", "a", "b"), -ENOSPC);
	assert_false(seen(&plant, "u1 a b"));
	fake_directory_set_room(plant.directory, 2);
	assert_int_equal(put(&plant, "u1", "a", "b"), 0);
	assert_true(seen(&plant, "u1 a b"));
	tear_down(&plant);
}

static void a_full_table_keeps_what_it_has(void **state)
{
	struct plant plant;

	(void)state;
	set_up(&plant, 64, 2);
	assert_int_equal(put(&plant, "u1", "a", NULL), 0);
	assert_int_equal(put(&plant, "u2", "b", NULL), 0);
	assert_int_equal(put(&plant, "u3", "c", NULL), -ENOSPC);
	assert_null(fake_directory_find(plant.directory, "c"));
	pod_table_remove(&plant.table, "u1", 5);
	assert_int_equal(put(&plant, "u3", "c", NULL), 0);
	assert_true(seen(&plant, "u2 b "));
	assert_true(seen(&plant, "u3 c "));
	tear_down(&plant);
}

/* Rows move when others go: both ways to find them must follow. */
static void many_come_and_go(void **state)
{
	struct plant plant;
	char uid[16], text[32];

	(void)state;
	set_up(&plant, 64, 1000);
	for (unsigned round = 0; round < 20; round++) {
		pod_table_begin(&plant.table);
		for (unsigned i = 0; i < 500; i++) {
			if ((i * 7 + round) % 3 == 0)
				continue;
			(void)snprintf(uid, sizeof(uid), "u%u", i);
			(void)snprintf(text, sizeof(text), "%s  ", uid);
			if (!seen(&plant, text))
				assert_int_equal(put(&plant, uid, NULL, NULL), 0);
		}
		pod_table_end(&plant.table, 5);
		assert_in_range(plant.table.count, 333, 334);
		assert_int_equal(plant.table.by_uid.used, plant.table.count);
		assert_int_equal(plant.table.by_digest.used, plant.table.count);
	}
	tear_down(&plant);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_list_lacks_is_taken_back),
		cmocka_unit_test(containers_stay_when_their_pods_uid_changes),
		cmocka_unit_test(a_list_that_breaks_off_takes_nothing_back),
		cmocka_unit_test(an_unchanged_pod_costs_no_put),
		cmocka_unit_test(a_restarted_container_replaces_the_old),
		cmocka_unit_test(a_pod_without_text_is_never_seen),
		cmocka_unit_test(a_full_directory_is_asked_again),
		cmocka_unit_test(a_full_table_keeps_what_it_has),
		cmocka_unit_test(many_come_and_go),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
