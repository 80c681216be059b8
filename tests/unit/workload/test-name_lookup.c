// SPDX-License-Identifier: Apache-2.0
/* Names that come, change and stay away, as identity_resolve() gives them. */
#include "workload/name_lookup.h"

#include <poll.h>
#include <unistd.h>

#include "base/num.h"
#include "tests/unit/unit.h"

#define ID     "3f1c0d52a9e84b7760d1c2f8e5a4b39017c6d8e2f4a1b0935c7e6d8f2a4b1c30"
#define INNER  "b7d2a90e41c85f3362f7e8d1a0c9b45876e3f2d1c0b9a8877665544332211000"
#define UID    "5f0c7a3e-1b2d-4c6f-9a8b-0d1e2f3a4b5c"
#define VICTIM "0d1e2f3a-4b5c-4c6f-9a8b-5f0c7a3e1b2d"
#define POD    "/kubepods/burstable/pod" UID "/"
#define S      NSEC_PER_SEC
#define T0     (1000 * S)

struct world {
	struct directory *directory;
	struct identity_resolver *resolver;
};

static int setup(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	struct identity_options options = { .procfs = "/nonexistent", .cgroupfs = "/nonexistent" };

	if (!world || directory_new(100, &world->directory) < 0)
		return -1;
	options.directory = world->directory;
	if (identity_resolver_open(&options, &world->resolver) < 0)
		return -1;
	identity_resolver_begin(world->resolver, T0);
	*state = world;
	return 0;
}

static int teardown(void **state)
{
	struct world *world = *state;

	identity_resolver_close(world->resolver);
	directory_free(world->directory);
	free(world);
	return 0;
}

static void cgroup(struct world *world, uint64_t id, const char *path)
{
	identity_resolver_learn(world->resolver, id, path);
}

static const struct identity *at(struct world *world, uint64_t cgroup_id)
{
	const struct process_ref process = { .pid = 9, .cgroup_id = cgroup_id, .comm = "x" };

	return identity_resolve(world->resolver, &process);
}

static void pass(struct world *world, uint64_t after_s)
{
	identity_resolver_begin(world->resolver, T0 + after_s * S);
}

static void put_pod(struct world *world, const char *id, const char *pod_name)
{
	const struct label app = { "label_app", "till" };
	const struct container_names names = { .names.text[LABEL_CONTAINER_ID] = id,
					       .names.text[LABEL_CONTAINER_NAME] = "web",
					       .names.text[LABEL_POD_NAME] = pod_name,
					       .names.text[LABEL_NAMESPACE] = "shop",
					       .names.text[LABEL_POD_ID] = UID,
					       .names.text[LABEL_WORKLOAD] = "till",
					       .names.text[LABEL_WORKLOAD_TYPE] = "Deployment",
					       .names.extra = &app,
					       .names.extra_count = 1,
					       .names.text[LABEL_QOS_CLASS] = "Burstable",
					       .cpu_request_milli = 250,
					       .cpu_limit_milli = 500 };

	assert_int_equal(directory_put(world->directory, DIRECTORY_KUBERNETES, &names), 0);
}

static void reach(struct world *world, enum directory_source source, bool yes)
{
	directory_set_reachable(world->directory, source, yes);
}

static void test_names_come_at_once(void **state)
{
	struct world *world = *state;
	const struct identity *identity;

	reach(world, DIRECTORY_KUBERNETES, true);
	put_pod(world, ID, "till-7");
	cgroup(world, 1, POD ID);
	identity = at(world, 1);
	assert_false(identity->waiting);
	assert_string_equal(identity->names->text[LABEL_CONTAINER_NAME], "web");
	assert_string_equal(identity->names->text[LABEL_POD_NAME], "till-7");
	assert_string_equal(identity->names->text[LABEL_NAMESPACE], "shop");
	assert_string_equal(identity->names->text[LABEL_WORKLOAD], "till");
	assert_string_equal(identity->names->text[LABEL_WORKLOAD_TYPE], "Deployment");
	assert_string_equal(identity->names->extra[0].value, "till");
	assert_string_equal(identity->names->text[LABEL_QOS_CLASS], "Burstable");
	assert_int_equal(identity->size_millicpu, 250);
}

static void test_a_pod_waits_for_kubernetes(void **state)
{
	struct world *world = *state;
	const struct owner_names *names;

	reach(world, DIRECTORY_KUBERNETES, true);
	cgroup(world, 1, POD ID);
	assert_true(at(world, 1)->waiting);
	names = owner_names_ref(at(world, 1)->names);
	pass(world, 59);
	assert_true(at(world, 1)->waiting);
	put_pod(world, ID, "till-7");
	pass(world, 60);
	assert_false(at(world, 1)->waiting);
	assert_true(at(world, 1)->names != names);
	owner_names_unref(names);
	assert_string_equal(at(world, 1)->names->text[LABEL_POD_NAME], "till-7");
}

static void test_a_pod_waits_a_minute_and_no_longer(void **state)
{
	struct world *world = *state;

	reach(world, DIRECTORY_KUBERNETES, true);
	cgroup(world, 1, POD ID);
	assert_true(at(world, 1)->waiting);
	pass(world, 60);
	assert_false(at(world, 1)->waiting);
	put_pod(world, INNER, "other");
	pass(world, 61);
	assert_false(at(world, 1)->waiting); /* published: its series stays */
	put_pod(world, ID, "till-7");
	pass(world, 62);
	assert_string_equal(at(world, 1)->names->text[LABEL_POD_NAME], "till-7");
}

static void test_nothing_waits_for_a_source_that_is_away(void **state)
{
	struct world *world = *state;

	cgroup(world, 1, POD ID);
	cgroup(world, 2, "/docker/" INNER);
	assert_false(at(world, 1)->waiting);
	reach(world, DIRECTORY_KUBERNETES, false);
	pass(world, 1);
	assert_false(at(world, 2)->waiting);
	reach(world, DIRECTORY_KUBERNETES, true);
	pass(world, 2);
	assert_false(at(world, 1)->waiting);
	assert_false(at(world, 2)->waiting); /* no pod */
}

static void test_a_wait_ends_when_the_source_goes_away(void **state)
{
	struct world *world = *state;

	reach(world, DIRECTORY_KUBERNETES, true);
	cgroup(world, 1, POD ID);
	assert_true(at(world, 1)->waiting);
	reach(world, DIRECTORY_KUBERNETES, false);
	pass(world, 1);
	assert_false(at(world, 1)->waiting);
}

static void test_others_wait_shortly_for_their_runtime(void **state)
{
	struct world *world = *state;
	const struct container_names names = { .names.text[LABEL_CONTAINER_ID] = ID,
					       .names.text[LABEL_CONTAINER_NAME] = "web" };

	reach(world, DIRECTORY_RUNTIME, true);
	cgroup(world, 1, "/docker/" ID);
	cgroup(world, 2, "/docker/" INNER);
	cgroup(world, 3, "/system.slice/a.service");
	assert_true(at(world, 1)->waiting);
	assert_true(at(world, 2)->waiting);
	assert_false(at(world, 3)->waiting);
	assert_int_equal(directory_put(world->directory, DIRECTORY_RUNTIME, &names), 0);
	pass(world, 5);
	assert_false(at(world, 1)->waiting);
	assert_string_equal(at(world, 1)->names->text[LABEL_CONTAINER_NAME], "web");
	assert_string_equal(at(world, 1)->names->text[LABEL_POD_NAME], "web");
	assert_string_equal(at(world, 1)->names->text[LABEL_NAMESPACE], "system");
	assert_false(at(world, 2)->waiting);
	assert_string_equal(at(world, 2)->names->text[LABEL_CONTAINER_NAME], "b7d2a90e41c8");
}

static void test_a_pod_is_named_before_its_container(void **state)
{
	struct world *world = *state;

	reach(world, DIRECTORY_KUBERNETES, true);
	cgroup(world, 1, POD ID);
	assert_false(at(world, 1)->has_pod_names);
	put_pod(world, DIRECTORY_POD_PREFIX UID, "till-7");
	pass(world, 1);
	assert_true(at(world, 1)->waiting);
	assert_true(at(world, 1)->has_pod_names);
	assert_string_equal(at(world, 1)->names->text[LABEL_POD_NAME], "till-7");
	assert_string_equal(at(world, 1)->names->text[LABEL_WORKLOAD], "till");
	put_pod(world, ID, "till-7");
	pass(world, 2);
	assert_false(at(world, 1)->waiting);
	assert_string_equal(at(world, 1)->names->text[LABEL_CONTAINER_NAME], "web");
}

/* A runtime knows neither workload nor labels: its word alone would make another series of it. */
static void test_a_pod_that_a_runtime_names_waits_for_kubernetes(void **state)
{
	struct world *world = *state;
	const struct container_names names = { .names.text[LABEL_CONTAINER_ID] = ID,
					       .names.text[LABEL_CONTAINER_NAME] = "POD",
					       .names.text[LABEL_POD_NAME] = "till-7",
					       .names.text[LABEL_POD_ID] = UID };

	reach(world, DIRECTORY_KUBERNETES, true);
	reach(world, DIRECTORY_RUNTIME, true);
	assert_int_equal(directory_put(world->directory, DIRECTORY_RUNTIME, &names), 0);
	cgroup(world, 1, POD ID);
	assert_true(at(world, 1)->waiting);
	assert_false(at(world, 1)->has_pod_names);
	put_pod(world, INNER, "till-7");
	pass(world, 1);
	assert_true(at(world, 1)->waiting);
	assert_true(at(world, 1)->has_pod_names);
	pass(world, 60); /* a sandbox: Kubernetes never speaks of it */
	assert_false(at(world, 1)->waiting);
	assert_string_equal(at(world, 1)->names->text[LABEL_CONTAINER_NAME], "POD");
	assert_string_equal(at(world, 1)->names->text[LABEL_WORKLOAD], "till");
	assert_string_equal(at(world, 1)->names->extra[0].value, "till");
	assert_string_equal(at(world, 1)->names->text[LABEL_QOS_CLASS], "Burstable");
}

static void test_a_runtime_names_pods_where_kubernetes_is_away(void **state)
{
	struct world *world = *state;
	const struct container_names names = { .names.text[LABEL_CONTAINER_ID] = ID,
					       .names.text[LABEL_CONTAINER_NAME] = "web",
					       .names.text[LABEL_POD_NAME] = "till-7",
					       .names.text[LABEL_POD_ID] = UID };

	reach(world, DIRECTORY_RUNTIME, true);
	assert_int_equal(directory_put(world->directory, DIRECTORY_RUNTIME, &names), 0);
	cgroup(world, 1, POD ID);
	assert_false(at(world, 1)->waiting);
	assert_string_equal(at(world, 1)->names->text[LABEL_POD_NAME], "till-7");
}

/*
 * An image's labels and a pod's annotations are their authors' words: the pod is the one that the
 * cgroup lies in, and none where it lies in none, whether Kubernetes answers or not.
 */
static void test_a_runtime_names_no_other_pod(void **state)
{
	static const struct {
		const char *path, *id, *name, *pod_id;
	} rows[] = {
		{ "/docker/" ID, ID, "web", "" },
		{ POD INNER, INNER, "web", UID },
		{ POD INNER "/docker/" ID, INNER, "3f1c0d52a9e8", UID },
	};
	struct world *world = *state;
	uint64_t now_s = 0;

	for (size_t i = 0; i < 2 * ARRAY_SIZE(rows); i++) {
		const struct container_names names = { .names.text[LABEL_CONTAINER_ID] =
							       rows[i / 2].id,
						       .names.text[LABEL_CONTAINER_NAME] = "web",
						       .names.text[LABEL_POD_NAME] = "victim-0",
						       .names.text[LABEL_NAMESPACE] = "prod",
						       .names.text[LABEL_POD_ID] = VICTIM };
		const struct identity *identity;

		assert_int_equal(directory_put(world->directory, DIRECTORY_RUNTIME, &names), 0);
		reach(world, DIRECTORY_RUNTIME, true);
		reach(world, DIRECTORY_KUBERNETES, i % 2);
		cgroup(world, i + 1, rows[i / 2].path);
		pass(world, now_s++);
		(void)at(world, i + 1);
		now_s += 60;
		pass(world, now_s++);
		identity = at(world, i + 1);
		assert_false(identity->waiting);
		assert_string_equal(identity->names->text[LABEL_POD_ID], rows[i / 2].pod_id);
		assert_string_not_equal(identity->names->text[LABEL_POD_NAME], "victim-0");
		assert_string_equal(identity->names->text[LABEL_NAMESPACE],
				    rows[i / 2].pod_id[0] ? "unknown" : "system");
		assert_string_equal(identity->names->text[LABEL_CONTAINER_NAME], rows[i / 2].name);
	}
}

/* Kubernetes' word of a container is taken, but the uid is the cgroup's. */
static void test_the_uid_is_the_cgroups(void **state)
{
	static const char hash[] = "0123456789abcdef0123456789abcdef";
	const struct container_names names = { .names.text[LABEL_CONTAINER_ID] = ID,
					       .names.text[LABEL_CONTAINER_NAME] = "etcd",
					       .names.text[LABEL_POD_NAME] = "etcd-node-1",
					       .names.text[LABEL_NAMESPACE] = "kube-system",
					       .names.text[LABEL_POD_ID] = UID };
	struct world *world = *state;

	assert_int_equal(directory_put(world->directory, DIRECTORY_KUBERNETES, &names), 0);
	cgroup(world, 1, "/kubepods/burstable/pod0123456789abcdef0123456789abcdef/" ID);
	assert_string_equal(at(world, 1)->names->text[LABEL_POD_ID], hash);
	assert_string_equal(at(world, 1)->names->text[LABEL_POD_NAME], "etcd-node-1");
	put_pod(world, INNER, "till-7");
	cgroup(world, 2, "/system.slice/docker-" INNER ".scope"); /* --cgroups-per-qos=false */
	pass(world, 1);
	assert_string_equal(at(world, 2)->names->text[LABEL_POD_ID], UID);
}

static void test_names_are_others_only_with_other_texts(void **state)
{
	struct world *world = *state;
	const struct owner_names *names;

	put_pod(world, ID, "till-7");
	cgroup(world, 1, POD ID);
	names = owner_names_ref(at(world, 1)->names);
	put_pod(world, INNER, "other"); /* another generation */
	pass(world, 1);
	assert_true(at(world, 1)->names == names);
	put_pod(world, ID, "till-8");
	pass(world, 2);
	assert_true(at(world, 1)->names != names);
	put_pod(world, ID, "till-7");
	pass(world, 3);
	assert_true(at(world, 1)->names == names);
	owner_names_unref(names);
}

static void test_names_do_not_change_within_an_interval(void **state)
{
	struct world *world = *state;

	put_pod(world, ID, "till-7");
	cgroup(world, 1, POD ID);
	(void)at(world, 1);
	put_pod(world, ID, "till-8");
	assert_string_equal(at(world, 1)->names->text[LABEL_POD_NAME], "till-7");
	pass(world, 1);
	assert_string_equal(at(world, 1)->names->text[LABEL_POD_NAME], "till-8");
}

static void test_known_names_stay_when_the_source_forgets(void **state)
{
	struct world *world = *state;

	put_pod(world, ID, "till-7");
	cgroup(world, 1, POD ID);
	(void)at(world, 1);
	directory_remove(world->directory, DIRECTORY_KUBERNETES, ID, T0);
	directory_remove(world->directory, DIRECTORY_KUBERNETES, ID, T0 + 2 * DIRECTORY_KEEP_NS);
	put_pod(world, INNER, "other");
	pass(world, 200);
	assert_string_equal(at(world, 1)->names->text[LABEL_POD_NAME], "till-7");
}

static void test_sub_groups_share_their_owner(void **state)
{
	struct world *world = *state;
	const struct identity *one;

	cgroup(world, 1, POD ID);
	cgroup(world, 2, POD ID "/init.scope");
	one = at(world, 1);
	assert_ptr_equal(at(world, 2), one);
}

/* The sandbox of a pod is in no status, and has the pod's names. */
static void test_a_sandbox_has_the_names_of_its_pod(void **state)
{
	struct world *world = *state;
	const struct identity *identity;

	put_pod(world, ID, "till-7");
	cgroup(world, 1, POD INNER);
	cgroup(world, 2, POD);
	identity = at(world, 1);
	assert_string_equal(identity->names->text[LABEL_CONTAINER_NAME], "b7d2a90e41c8");
	assert_string_equal(identity->names->text[LABEL_POD_NAME], "till-7");
	assert_string_equal(identity->names->text[LABEL_NAMESPACE], "shop");
	assert_int_equal(identity->size_millicpu, 0);
	assert_string_equal(identity->names->text[LABEL_QOS_CLASS],
			    "Burstable"); /* which is the pod's */
	identity = at(world, 2);
	assert_string_equal(identity->names->text[LABEL_CONTAINER_ID], "pod" UID);
	assert_string_equal(identity->names->text[LABEL_CONTAINER_NAME], "pod");
	assert_string_equal(identity->names->text[LABEL_POD_NAME], "till-7");
}

/*
 * A static pod's cgroups carry the hash of its manifest, under which the directory has it, too:
 * its container, its sandbox and what else it runs are one pod, with either cgroup driver.
 */
static void test_a_static_pod_is_one_pod(void **state)
{
	static const char hash[] = "0123456789abcdef0123456789abcdef";
	static const char *const paths[] = {
		"/kubepods/burstable/pod0123456789abcdef0123456789abcdef/" ID,
		"/kubepods/burstable/pod0123456789abcdef0123456789abcdef/" INNER,
		"/kubepods/burstable/pod0123456789abcdef0123456789abcdef",
		"/kubepods.slice/kubepods-burstable.slice/"
		"kubepods-burstable-pod0123456789abcdef0123456789abcdef.slice/cri-containerd-" ID
		".scope",
		"/kubepods.slice/kubepods-burstable.slice/"
		"kubepods-burstable-pod0123456789abcdef0123456789abcdef.slice",
	};
	const struct container_names names = { .names.text[LABEL_CONTAINER_ID] = ID,
					       .names.text[LABEL_CONTAINER_NAME] = "etcd",
					       .names.text[LABEL_POD_NAME] = "etcd-node-1",
					       .names.text[LABEL_NAMESPACE] = "kube-system",
					       .names.text[LABEL_POD_ID] = hash,
					       .names.text[LABEL_WORKLOAD] = "etcd",
					       .names.text[LABEL_WORKLOAD_TYPE] = "StaticPod" };
	struct world *world = *state;

	assert_int_equal(directory_put(world->directory, DIRECTORY_KUBERNETES, &names), 0);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		const struct identity *identity;

		cgroup(world, i + 1, paths[i]);
		identity = at(world, i + 1);
		assert_string_equal(identity->names->text[LABEL_POD_ID], hash);
		assert_string_equal(identity->names->text[LABEL_POD_NAME], "etcd-node-1");
		assert_string_equal(identity->names->text[LABEL_NAMESPACE], "kube-system");
		assert_string_equal(identity->names->text[LABEL_WORKLOAD], "etcd");
		assert_string_equal(identity->names->text[LABEL_WORKLOAD_TYPE], "StaticPod");
	}
}

static void test_containers_in_containers(void **state)
{
	struct world *world = *state;
	const struct identity *identity;

	put_pod(world, ID, "till-7");
	cgroup(world, 1, POD ID "/docker/" INNER);
	identity = at(world, 1);
	assert_string_equal(identity->names->text[LABEL_CONTAINER_ID], INNER "@3f1c0d52a9e8");
	assert_string_equal(identity->names->text[LABEL_CONTAINER_NAME], "b7d2a90e41c8");
	assert_string_equal(identity->names->text[LABEL_POD_NAME], "till-7");
	assert_string_equal(identity->names->text[LABEL_POD_ID], UID);
	assert_int_equal(identity->size_millicpu, 0);
}

/* A container may call its groups as it likes: on a host with pods they belong to no pod. */
static void test_pods_in_containers(void **state)
{
	struct world *world = *state;
	const struct identity *identity;

	put_pod(world, ID, "till-7");
	cgroup(world, 1, "/docker/" INNER POD ID);
	identity = at(world, 1);
	assert_string_equal(identity->names->text[LABEL_POD_NAME], "till-7");
	assert_string_equal(identity->names->text[LABEL_CONTAINER_NAME], "3f1c0d52a9e8");
	cgroup(world, 2, POD ID);
	pass(world, 1);
	identity = at(world, 1);
	assert_string_equal(identity->names->text[LABEL_CONTAINER_ID], ID "@b7d2a90e41c8");
	assert_string_equal(identity->names->text[LABEL_POD_ID], "");
	assert_string_equal(identity->names->text[LABEL_NAMESPACE], "system");
	assert_string_equal(at(world, 2)->names->text[LABEL_CONTAINER_ID], ID);
	assert_string_equal(at(world, 2)->names->text[LABEL_POD_NAME], "till-7");
}

static void test_sources_are_asked_for_a_while(void **state)
{
	struct world *world = *state;
	int fd = directory_wanted_fd(world->directory, DIRECTORY_KUBERNETES);
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };
	uint64_t count;

	reach(world, DIRECTORY_KUBERNETES, true);
	cgroup(world, 1, POD ID);
	for (uint64_t s = 0; s < 30; s++) {
		pass(world, s);
		(void)at(world, 1);
		(void)at(world, 1);
		assert_int_equal(poll(&pollfd, 1, 0), s < 10 ? 1 : 0);
		if (s < 10) {
			assert_int_equal(read(fd, &count, sizeof(count)), sizeof(count));
			assert_int_equal(count, 1);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define WORLD_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		WORLD_TEST(test_names_come_at_once),
		WORLD_TEST(test_a_pod_waits_for_kubernetes),
		WORLD_TEST(test_a_pod_waits_a_minute_and_no_longer),
		WORLD_TEST(test_nothing_waits_for_a_source_that_is_away),
		WORLD_TEST(test_a_wait_ends_when_the_source_goes_away),
		WORLD_TEST(test_others_wait_shortly_for_their_runtime),
		WORLD_TEST(test_a_pod_is_named_before_its_container),
		WORLD_TEST(test_a_pod_that_a_runtime_names_waits_for_kubernetes),
		WORLD_TEST(test_a_runtime_names_pods_where_kubernetes_is_away),
		WORLD_TEST(test_a_runtime_names_no_other_pod),
		WORLD_TEST(test_the_uid_is_the_cgroups),
		WORLD_TEST(test_names_are_others_only_with_other_texts),
		WORLD_TEST(test_names_do_not_change_within_an_interval),
		WORLD_TEST(test_known_names_stay_when_the_source_forgets),
		WORLD_TEST(test_sub_groups_share_their_owner),
		WORLD_TEST(test_a_sandbox_has_the_names_of_its_pod),
		WORLD_TEST(test_a_static_pod_is_one_pod),
		WORLD_TEST(test_containers_in_containers),
		WORLD_TEST(test_pods_in_containers),
		WORLD_TEST(test_sources_are_asked_for_a_while),
	};

	return unit_run(tests);
}
