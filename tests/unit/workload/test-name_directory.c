// SPDX-License-Identifier: Apache-2.0
#include "workload/name_directory.h"

#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "base/num.h"
#include "tests/unit/unit.h"

#define T0 (1000 * NSEC_PER_SEC)

/* The loop's: what was found last is held until the next. */
static struct names_table *table;
static const struct owner_names *held;

static bool look(bool found, const struct directory_record *got)
{
	owner_names_unref(held);
	held = found ? got->names : NULL;
	return found;
}

static int open_table(void **state)
{
	table = names_table_get(NULL);
	return table ? 0 : -1;
}

static int close_table(void **state)
{
	(void)look(false, NULL);
	assert_int_equal((int)names_table_count(table), 0);
	names_table_put(table);
	return 0;
}

static struct directory *open_directory(uint32_t max)
{
	struct directory *directory;

	assert_int_equal(directory_new(max, &directory), 0);
	return directory;
}

static void put(struct directory *directory, enum directory_source source, const char *id,
		const char *name)
{
	const struct container_names names = { .names.text[LABEL_CONTAINER_ID] = id,
					       .names.text[LABEL_CONTAINER_NAME] = name };

	assert_int_equal(directory_put(directory, source, &names), 0);
}

/* The name that a look-up gives, "" for none. */
static const char *name_of(struct directory *directory, const char *id)
{
	struct directory_record got;

	return look(directory_peek(directory, id, table, &got), &got)
		       ? got.names->text[LABEL_CONTAINER_NAME]
		       : "";
}

static void test_all_comes_back(void **state)
{
	struct directory *directory = open_directory(10);
	struct directory_record got;
	const struct label app = { "label_app", "shop" };
	const struct container_names names = {
		.names.text[LABEL_CONTAINER_ID] = "c1",
		.names.text[LABEL_CONTAINER_NAME] = "web",
		.names.text[LABEL_POD_NAME] = "shop-1",
		.names.text[LABEL_NAMESPACE] = "shop",
		.names.text[LABEL_POD_ID] = "u1",
		.names.text[LABEL_WORKLOAD] = "shop",
		.names.text[LABEL_WORKLOAD_TYPE] = "Deployment",
		.names.extra = &app,
		.names.extra_count = 1,
		.cpu_request_milli = 250,
		.cpu_limit_milli = 500,
	};

	assert_int_equal(directory_put(directory, DIRECTORY_KUBERNETES, &names), 0);
	assert_true(look(directory_find(directory, "c1", table, &got), &got));
	assert_string_equal(got.names->text[LABEL_CONTAINER_ID], "c1");
	assert_string_equal(got.names->text[LABEL_CONTAINER_NAME], "web");
	assert_string_equal(got.names->text[LABEL_POD_NAME], "shop-1");
	assert_string_equal(got.names->text[LABEL_NAMESPACE], "shop");
	assert_string_equal(got.names->text[LABEL_POD_ID], "u1");
	assert_string_equal(got.names->text[LABEL_WORKLOAD], "shop");
	assert_string_equal(got.names->text[LABEL_WORKLOAD_TYPE], "Deployment");
	assert_string_equal(got.names->extra[0].name, "label_app");
	assert_string_equal(got.names->extra[0].value, "shop");
	assert_int_equal(got.cpu_request_milli, 250);
	assert_int_equal(got.cpu_limit_milli, 500);
	assert_false(directory_find(directory, "", table, &got));
	directory_free(directory);
	directory_free(NULL);
}

static void test_kubernetes_hides_the_runtime(void **state)
{
	struct directory *directory = open_directory(10);

	put(directory, DIRECTORY_RUNTIME, "c1", "k8s_web_shop");
	assert_string_equal(name_of(directory, "c1"), "k8s_web_shop");
	put(directory, DIRECTORY_KUBERNETES, "c1", "web");
	put(directory, DIRECTORY_RUNTIME, "c1", "other");
	assert_string_equal(name_of(directory, "c1"), "web");
	directory_free(directory);
}

static void test_what_was_taken_back_is_kept_for_a_while(void **state)
{
	struct directory *directory = open_directory(10);
	struct directory_stats stats;

	put(directory, DIRECTORY_KUBERNETES, "c1", "web");
	directory_remove(directory, DIRECTORY_KUBERNETES, "c1", T0);
	directory_remove(directory, DIRECTORY_KUBERNETES, "unknown", T0);
	directory_get_stats(directory, &stats);
	assert_int_equal(stats.containers[DIRECTORY_KUBERNETES], 0);
	directory_remove(directory, DIRECTORY_KUBERNETES, "unknown", T0 + DIRECTORY_KEEP_NS - 1);
	assert_string_equal(name_of(directory, "c1"), "web");
	directory_remove(directory, DIRECTORY_KUBERNETES, "unknown", T0 + DIRECTORY_KEEP_NS * 2);
	assert_string_equal(name_of(directory, "c1"), "");
	directory_free(directory);
}

static void test_each_source_takes_back_its_own(void **state)
{
	struct directory *directory = open_directory(10);
	struct directory_stats stats;

	put(directory, DIRECTORY_KUBERNETES, "old", "a");
	put(directory, DIRECTORY_RUNTIME, "old", "b");
	put(directory, DIRECTORY_KUBERNETES, "new", "c");
	directory_remove(directory, DIRECTORY_KUBERNETES, "old", T0);
	directory_get_stats(directory, &stats);
	assert_int_equal(stats.containers[DIRECTORY_KUBERNETES], 1);
	assert_int_equal(stats.containers[DIRECTORY_RUNTIME], 1);
	put(directory, DIRECTORY_KUBERNETES, "old", "a");
	directory_get_stats(directory, &stats);
	assert_int_equal(stats.containers[DIRECTORY_KUBERNETES], 2);
	directory_free(directory);
}

static void test_bounded(void **state)
{
	struct directory *directory = open_directory(100);
	struct directory_stats stats;
	char id[16];

	for (int i = 0; i < 100; i++) {
		(void)snprintf(id, sizeof(id), "c%d", i);
		put(directory, DIRECTORY_RUNTIME, id, id);
	}
	assert_int_equal(directory_put(directory, DIRECTORY_RUNTIME,
				       &(struct container_names){ .names.text[LABEL_CONTAINER_ID] =
									  "more" }),
			 -ENOSPC);
	directory_remove(directory, DIRECTORY_RUNTIME, "c9", T0 + 2);
	directory_remove(directory, DIRECTORY_RUNTIME, "c7", T0 + 1);
	put(directory, DIRECTORY_RUNTIME, "more", "more");
	assert_string_equal(name_of(directory, "c7"), "");
	assert_string_equal(name_of(directory, "c9"), "c9");
	for (int i = 0; i < 100; i++) {
		(void)snprintf(id, sizeof(id), "c%d", i);
		assert_string_equal(name_of(directory, id), i == 7 ? "" : id);
	}
	directory_get_stats(directory, &stats);
	assert_int_equal(stats.refused, 1);
	directory_free(directory);
}

static void test_generation_stands_still_while_nothing_changes(void **state)
{
	struct directory *directory = open_directory(10);
	uint64_t generation = directory_generation(directory);

	put(directory, DIRECTORY_RUNTIME, "c1", "a");
	assert_true(directory_generation(directory) != generation);
	generation = directory_generation(directory);
	put(directory, DIRECTORY_RUNTIME, "c1", "a");
	assert_true(directory_generation(directory) == generation);
	put(directory, DIRECTORY_RUNTIME, "c1", "b");
	assert_true(directory_generation(directory) != generation);
	directory_free(directory);
}

static bool is_readable(int fd)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };

	return poll(&pollfd, 1, 0) == 1;
}

static void test_sources_are_asked_for_unknown_ids(void **state)
{
	struct directory *directory = open_directory(10);
	int fd = directory_wanted_fd(directory, DIRECTORY_RUNTIME);
	struct directory_record got;
	uint64_t count;

	assert_true(fd >= 0);
	assert_int_equal(directory_wanted_fd(directory, DIRECTORY_RUNTIME), fd);
	put(directory, DIRECTORY_RUNTIME, "c1", "a");
	assert_true(look(directory_find(directory, "c1", table, &got), &got));
	assert_false(directory_peek(directory, "c2", table, &got));
	assert_false(is_readable(fd));
	assert_false(directory_find(directory, "c2", table, &got));
	assert_true(is_readable(fd));
	assert_int_equal(read(fd, &count, sizeof(count)), sizeof(count));
	assert_false(is_readable(fd));
	directory_free(directory);
}

static void test_reachable(void **state)
{
	struct directory *directory = open_directory(10);
	struct directory_stats stats;

	assert_false(directory_source_is_reachable(directory, DIRECTORY_RUNTIME));
	directory_set_reachable(directory, DIRECTORY_RUNTIME, false);
	assert_false(directory_source_is_reachable(directory, DIRECTORY_RUNTIME));
	directory_set_reachable(directory, DIRECTORY_RUNTIME, true);
	assert_true(directory_source_is_reachable(directory, DIRECTORY_RUNTIME));
	assert_false(directory_source_is_reachable(directory, DIRECTORY_KUBERNETES));
	directory_get_stats(directory, &stats);
	assert_true(stats.configured[DIRECTORY_RUNTIME] && stats.reachable[DIRECTORY_RUNTIME]);
	assert_false(stats.configured[DIRECTORY_KUBERNETES]);
	directory_free(directory);
}

static void put_in_pod(struct directory *directory, const char *id, const char *pod,
		       const char *pod_name)
{
	const struct container_names names = { .names.text[LABEL_CONTAINER_ID] = id,
					       .names.text[LABEL_POD_ID] = pod,
					       .names.text[LABEL_POD_NAME] = pod_name };

	assert_int_equal(directory_put(directory, DIRECTORY_KUBERNETES, &names), 0);
}

static void test_pods_are_found_by_any_of_their_containers(void **state)
{
	struct directory *directory = open_directory(3);
	struct directory_record got;

	put_in_pod(directory, "c1", "u1", "shop-1");
	put_in_pod(directory, "c2", "u1", "shop-1");
	put_in_pod(directory, "c3", "u2", "till-1");
	assert_true(look(directory_find_pod(directory, "u1", table, &got), &got));
	assert_string_equal(got.names->text[LABEL_POD_NAME], "shop-1");
	directory_remove(directory, DIRECTORY_KUBERNETES, "c2", T0);
	put_in_pod(directory, "c4", "u3", "bar-1"); /* in the place of c2 */
	assert_true(look(directory_find_pod(directory, "u1", table, &got), &got));
	assert_string_equal(got.names->text[LABEL_CONTAINER_ID], "c1");
	directory_remove(directory, DIRECTORY_KUBERNETES, "c1", T0);
	put_in_pod(directory, "c5", "u3", "bar-1");
	assert_false(directory_find_pod(directory, "u1", table, &got));
	assert_true(look(directory_find_pod(directory, "u2", table, &got), &got));
	assert_string_equal(got.names->text[LABEL_POD_NAME], "till-1");
	assert_true(look(directory_find_pod(directory, "u3", table, &got), &got));
	directory_free(directory);
}

static void test_a_pod_is_known_before_its_containers(void **state)
{
	struct directory *directory = open_directory(10);
	const struct container_names runtimes = { .names.text[LABEL_CONTAINER_ID] = "c1",
						  .names.text[LABEL_POD_ID] = "u1" };
	struct directory_record got;
	struct directory_stats stats;

	put_in_pod(directory, DIRECTORY_POD_PREFIX "u1", "u1", "shop-1");
	assert_int_equal(directory_put(directory, DIRECTORY_RUNTIME, &runtimes), 0);
	assert_true(look(directory_find_pod(directory, "u1", table, &got), &got));
	assert_string_equal(got.names->text[LABEL_POD_NAME], "shop-1"); /* not what came last */
	assert_int_equal(got.source, DIRECTORY_KUBERNETES);
	directory_get_stats(directory, &stats);
	assert_int_equal(stats.containers[DIRECTORY_KUBERNETES], 0);
	put_in_pod(directory, "c1", "u1", "shop-1");
	directory_remove(directory, DIRECTORY_KUBERNETES, DIRECTORY_POD_PREFIX "u1", T0);
	directory_get_stats(directory, &stats);
	assert_int_equal(stats.containers[DIRECTORY_KUBERNETES], 1);
	directory_remove(directory, DIRECTORY_KUBERNETES, "unknown", T0 + 2 * DIRECTORY_KEEP_NS);
	assert_true(look(directory_find_pod(directory, "u1", table, &got), &got));
	assert_string_equal(got.names->text[LABEL_CONTAINER_ID], "c1");
	directory_free(directory);
}

static void test_kubernetes_is_asked_for_ids_that_only_a_runtime_knows(void **state)
{
	struct directory *directory = open_directory(10);
	int kubernetes = directory_wanted_fd(directory, DIRECTORY_KUBERNETES);
	int runtime = directory_wanted_fd(directory, DIRECTORY_RUNTIME);
	struct directory_record got;

	put(directory, DIRECTORY_KUBERNETES, "c1", "a");
	assert_true(look(directory_find(directory, "c1", table, &got), &got));
	assert_false(is_readable(kubernetes) || is_readable(runtime));
	put(directory, DIRECTORY_RUNTIME, "c2", "a");
	assert_true(look(directory_find(directory, "c2", table, &got), &got));
	assert_true(is_readable(kubernetes));
	assert_false(is_readable(runtime));
	directory_free(directory);
}

static void test_long_strings_are_cut(void **state)
{
	struct directory *directory = open_directory(3);
	struct container_names names = { .names.text[LABEL_CONTAINER_ID] = "c1" };
	char *name = malloc(70000);
	struct directory_record got;

	assert_non_null(name);
	memset(name, 'n', 69999);
	name[69999] = '\0';
	names.names.text[LABEL_CONTAINER_NAME] = names.names.text[LABEL_POD_NAME] = name;
	assert_int_equal(directory_put(directory, DIRECTORY_RUNTIME, &names), 0);
	assert_true(look(directory_find(directory, "c1", table, &got), &got));
	assert_int_equal(strlen(got.names->text[LABEL_POD_NAME]), OWNER_NAME_MAX);
	free(name);
	directory_free(directory);
}

/* Ids are kept as interned: a request for one, or its withdrawal, uses it as it was stated. */
static void test_ids_are_found_as_they_were_given(void **state)
{
	const char *const ids[] = {
		"an id of 128 bytes: 1234567890123456789012345678901234567890"
		"12345678901234567890123456789012345678901234567890123456789012345678",
		"an id with \xef\xbf\xbd",
	};
	struct directory *directory = open_directory(10);
	struct directory_stats stats;

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		put(directory, DIRECTORY_KUBERNETES, ids[i], "web");
		assert_string_equal(name_of(directory, ids[i]), "web");
		put(directory, DIRECTORY_KUBERNETES, ids[i], "shop");
		assert_string_equal(name_of(directory, ids[i]), "shop");
		directory_get_stats(directory, &stats);
		assert_int_equal(stats.containers[DIRECTORY_KUBERNETES], 1);
		directory_remove(directory, DIRECTORY_KUBERNETES, ids[i], T0);
		directory_get_stats(directory, &stats);
		assert_int_equal(stats.containers[DIRECTORY_KUBERNETES], 0);
	}
	directory_free(directory);
}

static void put_named(struct directory *directory, enum directory_source source, const char *id,
		      const char *pod)
{
	const struct container_names names = {
		.names.text = { [LABEL_CONTAINER_ID] = id,
				[LABEL_CONTAINER_NAME] = "main",
				[LABEL_POD_NAME] = pod,
				[LABEL_NAMESPACE] = "prod" },
	};

	assert_int_equal(directory_put(directory, source, &names), 0);
}

/* By Kubernetes' word alone, as long as it stands. */
static void test_containers_are_found_by_name(void **state)
{
	struct directory *directory = open_directory(16);
	const struct directory_name web = { "prod", "web", "main" };
	const struct directory_name others[] = { { "dev", "web", "main" },
						 { "prod", "we", "main" },
						 { "prod", "web", "side" } };
	char ids[4][DIRECTORY_ID_MAX + 1], long_id[DIRECTORY_ID_MAX + 2];

	put_named(directory, DIRECTORY_RUNTIME, "cccc", "web");
	assert_int_equal((int)directory_find_named(directory, &web, ids, 4), 0);
	put_named(directory, DIRECTORY_KUBERNETES, "aaaa", "web");
	put_named(directory, DIRECTORY_KUBERNETES, "bbbb", "web");
	put_named(directory, DIRECTORY_KUBERNETES, "dddd", "db");
	memset(long_id, 'e', sizeof(long_id) - 1);
	long_id[sizeof(long_id) - 1] = '\0';
	put_named(directory, DIRECTORY_KUBERNETES, long_id, "web");
	assert_int_equal((int)directory_find_named(directory, &web, ids, 4), 2);
	assert_string_equal(ids[0], "aaaa");
	assert_string_equal(ids[1], "bbbb");
	assert_int_equal((int)directory_find_named(directory, &web, ids, 1), 1);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_int_equal((int)directory_find_named(directory, &others[i], ids, 4), 0);
	directory_remove(directory, DIRECTORY_KUBERNETES, "aaaa", T0);
	assert_int_equal((int)directory_find_named(directory, &web, ids, 4), 1);
	assert_string_equal(ids[0], "bbbb");
	directory_free(directory);
}

static void *put_many(void *userdata)
{
	struct directory *directory = userdata;
	char id[16];

	for (int i = 0; i < 2000; i++) {
		struct container_names names = { .names.text[LABEL_CONTAINER_ID] = id,
						 .names.text[LABEL_POD_ID] = "u" };

		(void)snprintf(id, sizeof(id), "c%d", i % 60);
		(void)directory_put(directory, DIRECTORY_KUBERNETES, &names);
		directory_remove(directory, DIRECTORY_KUBERNETES, id, T0);
		directory_set_reachable(directory, DIRECTORY_KUBERNETES, i % 2);
	}
	return NULL;
}

static void test_sources_and_loop_at_once(void **state)
{
	struct directory *directory = open_directory(40);
	struct directory_record got;
	pthread_t threads[2];

	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, put_many, directory), 0);
	for (int i = 0; i < 2000; i++) {
		if (look(directory_find(directory, "c5", table, &got), &got))
			assert_string_equal(got.names->text[LABEL_POD_ID], "u");
		(void)directory_generation(directory);
		(void)directory_source_is_reachable(directory, DIRECTORY_KUBERNETES);
	}
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	directory_free(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_comes_back),
		cmocka_unit_test(test_kubernetes_hides_the_runtime),
		cmocka_unit_test(test_what_was_taken_back_is_kept_for_a_while),
		cmocka_unit_test(test_each_source_takes_back_its_own),
		cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_generation_stands_still_while_nothing_changes),
		cmocka_unit_test(test_sources_are_asked_for_unknown_ids),
		cmocka_unit_test(test_reachable),
		cmocka_unit_test(test_pods_are_found_by_any_of_their_containers),
		cmocka_unit_test(test_a_pod_is_known_before_its_containers),
		cmocka_unit_test(test_kubernetes_is_asked_for_ids_that_only_a_runtime_knows),
		cmocka_unit_test(test_long_strings_are_cut),
		cmocka_unit_test(test_ids_are_found_as_they_were_given),
		cmocka_unit_test(test_containers_are_found_by_name),
		cmocka_unit_test(test_sources_and_loop_at_once),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, open_table, close_table);
}
