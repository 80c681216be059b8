// SPDX-License-Identifier: Apache-2.0
#include "kube/pods/pod_table.h"

#include "fake_directory.h"
#include "tests/unit/unit.h"

static const struct pod_digest_key key = { 1, 2 };

struct rig {
	struct directory *directory;
	struct pod_table table;
};

static void set_up(struct rig *rig, size_t room, uint32_t max_pods)
{
	rig->directory = fake_directory_new(room);
	assert_non_null(rig->directory);
	pod_table_init(&rig->table, rig->directory, &key, max_pods);
	pod_table_begin(&rig->table);
}

static void tear_down(struct rig *rig)
{
	pod_table_release(&rig->table);
	fake_directory_free(rig->directory);
}

/* A pod with up to two containers; its text is made of all of them. */
static int put(struct rig *rig, const char *uid, const char *first, const char *second)
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
	return pod_table_put(&rig->table, &pod, text, strlen(text), 5);
}

static bool seen(struct rig *rig, const char *text)
{
	return pod_table_seen(&rig->table, text, strlen(text));
}

/* A static pod: the same containers under the uid of the other source. */
static void containers_stay_when_their_pods_uid_changes(void **state)
{
	struct rig rig;

	set_up(&rig, 64, 100);
	for (int source = 0; source < 4; source++) {
		pod_table_begin(&rig.table);
		assert_int_equal(put(&rig, source % 2 ? "mirror" : "hash", "a", "b"), 0);
		pod_table_end(&rig.table, 5);
		assert_int_equal(rig.table.count, 1);
		assert_int_equal(fake_directory_count(rig.directory), 2);
		assert_non_null(fake_directory_find(rig.directory, "a"));
	}
	pod_table_begin(&rig.table);
	pod_table_end(&rig.table, 5);
	assert_int_equal(fake_directory_count(rig.directory), 0);
	tear_down(&rig);
}

static void what_a_list_lacks_is_taken_back(void **state)
{
	struct rig rig;

	set_up(&rig, 64, 100);
	assert_int_equal(put(&rig, "u1", "a", "b"), 0);
	assert_int_equal(put(&rig, "u2", "c", NULL), 0);
	assert_int_equal(put(&rig, "u3", NULL, NULL), 0);
	pod_table_end(&rig.table, 5);
	assert_int_equal(rig.table.count, 3);
	assert_int_equal(fake_directory_count(rig.directory), 3);

	pod_table_begin(&rig.table);
	assert_int_equal(put(&rig, "u2", "c", NULL), 0);
	pod_table_end(&rig.table, 5);
	assert_int_equal(rig.table.count, 1);
	assert_int_equal(fake_directory_count(rig.directory), 1);
	assert_string_equal(fake_directory_find(rig.directory, "c")->names.text[LABEL_POD_ID],
			    "u2");
	tear_down(&rig);
}

static void a_list_that_breaks_off_takes_nothing_back(void **state)
{
	struct rig rig;

	set_up(&rig, 64, 100);
	assert_int_equal(put(&rig, "u1", "a", NULL), 0);
	pod_table_end(&rig.table, 5);
	pod_table_begin(&rig.table); /* and no end */
	pod_table_begin(&rig.table);
	assert_true(seen(&rig, "u1 a "));
	pod_table_end(&rig.table, 5);
	assert_non_null(fake_directory_find(rig.directory, "a"));
	tear_down(&rig);
}

static void an_unchanged_pod_costs_no_put(void **state)
{
	struct rig rig;
	uint64_t changes;

	set_up(&rig, 64, 100);
	assert_false(seen(&rig, "u1 a b"));
	assert_int_equal(put(&rig, "u1", "a", "b"), 0);
	changes = rig.table.changes;
	pod_table_begin(&rig.table);
	assert_true(seen(&rig, "u1 a b"));
	assert_false(seen(&rig, "u1 a c"));
	pod_table_end(&rig.table, 5);
	assert_int_equal(fake_directory_puts(rig.directory), 2);
	assert_int_equal(rig.table.changes, changes);
	assert_int_equal(rig.table.count, 1);
	tear_down(&rig);
}

static void a_restarted_container_replaces_the_old(void **state)
{
	struct rig rig;

	set_up(&rig, 64, 100);
	assert_int_equal(put(&rig, "u1", "a", "b"), 0);
	assert_int_equal(put(&rig, "u1", "a", "c"), 0);
	assert_null(fake_directory_find(rig.directory, "b"));
	assert_non_null(fake_directory_find(rig.directory, "a"));
	assert_non_null(fake_directory_find(rig.directory, "c"));
	assert_false(seen(&rig, "u1 a b")); /* that text is history */
	assert_true(seen(&rig, "u1 a c"));
	tear_down(&rig);
}

static void a_pod_without_text_is_never_seen(void **state)
{
	struct container_names names = { .names.text[LABEL_CONTAINER_ID] = "a" };
	struct pod pod = { .uid = "u1", .containers = &names, .count = 1 };
	struct rig rig;

	set_up(&rig, 64, 100);
	assert_int_equal(put(&rig, "u1", "a", NULL), 0);
	assert_int_equal(pod_table_put(&rig.table, &pod, NULL, 0, 5), 0);
	assert_false(seen(&rig, "u1 a "));
	assert_int_equal(rig.table.count, 1);
	pod_table_remove(&rig.table, "u1", 5);
	pod_table_remove(&rig.table, "u1", 5);
	pod_table_remove(&rig.table, "never", 5);
	assert_int_equal(fake_directory_count(rig.directory), 0);
	tear_down(&rig);
}

static void a_full_directory_is_asked_again(void **state)
{
	struct rig rig;

	set_up(&rig, 1, 100);
	assert_int_equal(put(&rig, "u1", "a", "b"), -ENOSPC);
	assert_false(seen(&rig, "u1 a b"));
	fake_directory_set_room(rig.directory, 2);
	assert_int_equal(put(&rig, "u1", "a", "b"), 0);
	assert_true(seen(&rig, "u1 a b"));
	tear_down(&rig);
}

static void a_full_table_keeps_what_it_has(void **state)
{
	struct rig rig;

	set_up(&rig, 64, 2);
	assert_int_equal(put(&rig, "u1", "a", NULL), 0);
	assert_int_equal(put(&rig, "u2", "b", NULL), 0);
	assert_int_equal(put(&rig, "u3", "c", NULL), -ENOSPC);
	assert_null(fake_directory_find(rig.directory, "c"));
	pod_table_remove(&rig.table, "u1", 5);
	assert_int_equal(put(&rig, "u3", "c", NULL), 0);
	assert_true(seen(&rig, "u2 b "));
	assert_true(seen(&rig, "u3 c "));
	tear_down(&rig);
}

/* Rows move when others go: both ways to find them must follow. */
static void many_come_and_go(void **state)
{
	struct rig rig;
	char uid[16], text[32];

	set_up(&rig, 64, 1000);
	for (unsigned round = 0; round < 20; round++) {
		pod_table_begin(&rig.table);
		for (unsigned i = 0; i < 500; i++) {
			if ((i * 7 + round) % 3 == 0)
				continue;
			(void)snprintf(uid, sizeof(uid), "u%u", i);
			(void)snprintf(text, sizeof(text), "%s  ", uid);
			if (!seen(&rig, text))
				assert_int_equal(put(&rig, uid, NULL, NULL), 0);
		}
		pod_table_end(&rig.table, 5);
		assert_in_range(rig.table.count, 333, 334);
		assert_int_equal(rig.table.by_uid.used, rig.table.count);
		assert_int_equal(rig.table.by_digest.used, rig.table.count);
	}
	tear_down(&rig);
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

	return unit_run(tests);
}
