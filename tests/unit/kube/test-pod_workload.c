// SPDX-License-Identifier: Apache-2.0
#include "kube/pods/pod_workload.h"

#include "tests/unit/unit.h"

#define HASH "0123456789abcdef0123456789abcdef"

/* The rest of metadata behind a name, and a node. */
static json_t *make(const char *name, const char *metadata)
{
	char text[1024];
	json_t *pod;

	(void)snprintf(text, sizeof(text),
		       "{\"metadata\":{\"name\":\"%s\"%s},\"spec\":{\"nodeName\":\"node-1\"}}",
		       name, metadata);
	pod = json_loads(text, 0, NULL);
	if (!pod)
		fail_msg("no JSON: %s", text);
	return pod;
}

static void check(const char *pod_name, const char *metadata, const char *name, const char *type)
{
	json_t *pod = make(pod_name, metadata);
	struct pod_workload workload;

	assert_int_equal(pod_workload_read(pod, &workload), 0);
	assert_string_equal(workload.name, name);
	assert_string_equal(workload.type, type);
	free(workload.name);
	json_decref(pod);
}

#define OWNER(kind, name)                                                                          \
	",\"ownerReferences\":[{\"kind\":\"Other\",\"name\":\"x\"},{\"kind\":\"" kind              \
	"\",\"name\":\"" name "\",\"controller\":true}]"
#define TEMPLATE(hash) ",\"labels\":{\"pod-template-hash\":\"" hash "\"}"
#define CREATED(time)  ",\"creationTimestamp\":\"" time "\""

static void replica_sets_are_deployments_by_their_hash(void **state)
{
	check("shop-7d4b9c-x2x4z", OWNER("ReplicaSet", "shop-7d4b9c") TEMPLATE("7d4b9c"), "shop",
	      "Deployment");
	check("my-shop-7d4b9c-x", OWNER("ReplicaSet", "my-shop-7d4b9c") TEMPLATE("7d4b9c"),
	      "my-shop", "Deployment");
	check("shop-x", OWNER("ReplicaSet", "shop-7d4b9c"), "shop-7d4b9c", "ReplicaSet");
	check("shop-x", OWNER("ReplicaSet", "shop-7d4b9c") TEMPLATE("4b9c"), "shop-7d4b9c",
	      "ReplicaSet");
	check("shop-x", OWNER("ReplicaSet", "-7d4b9c") TEMPLATE("7d4b9c"), "-7d4b9c", "ReplicaSet");
	check("shop-x", OWNER("ReplicaSet", "shop-") TEMPLATE(""), "shop-", "ReplicaSet");
}

static void jobs_are_cron_jobs_by_the_time_in_their_name(void **state)
{
	/* 29,906,415 minutes after 1970: 2026-11-11 10:15. */
	check("b-x", CREATED("2026-11-11T10:15:01Z") OWNER("Job", "backup-29906415"), "backup",
	      "CronJob");
	check("b-x", CREATED("2026-11-12T10:15:01Z") OWNER("Job", "backup-29906415"), "backup",
	      "CronJob");
	check("b-x", CREATED("2026-11-11T10:15:01Z") OWNER("Job", "backup-1794392100"), "backup",
	      "CronJob"); /* seconds, before 1.21 */
	check("b-x", CREATED("2026-11-11T10:15:01Z") OWNER("Job", "import-20240101"),
	      "import-20240101", "Job");
	check("b-x", CREATED("2026-01-11T10:15:01Z") OWNER("Job", "backup-29906415"),
	      "backup-29906415", "Job");
	check("b-x", CREATED("yesterday") OWNER("Job", "backup-29906415"), "backup-29906415",
	      "Job");
	check("b-x", OWNER("Job", "backup-29906415"), "backup-29906415", "Job");
	check("b-x", CREATED("2026-11-11T10:15:01Z") OWNER("Job", "backup"), "backup", "Job");
	check("b-x", CREATED("2026-11-11T10:15:01Z") OWNER("Job", "-29906415"), "-29906415", "Job");
	check("b-x", CREATED("2026-11-11T10:15:01Z") OWNER("Job", "b-2990641x"), "b-2990641x",
	      "Job");
}

static void other_controllers_are_what_they_say(void **state)
{
	check("db-0", OWNER("StatefulSet", "db"), "db", "StatefulSet");
	check("ds-x", OWNER("DaemonSet", "ds"), "ds", "DaemonSet");
	check("v-x", OWNER("VirtualMachineInstance", "v"), "v", "VirtualMachineInstance");
	check("lone", "", "lone", "Pod");
	check("lone", ",\"ownerReferences\":[{\"kind\":\"Job\",\"name\":\"x\"}]", "lone", "Pod");
	check("lone", ",\"ownerReferences\":[{\"kind\":5,\"name\":\"x\",\"controller\":true}]",
	      "lone", "Pod");
	check("lone", ",\"ownerReferences\":7", "lone", "Pod");
}

#define MIRROR(hash, mirror)                                                                       \
	",\"annotations\":{\"kubernetes.io/config.hash\":\"" hash                                  \
	"\",\"kubernetes.io/config.mirror\":\"" mirror "\"}"

static void static_pods_look_the_same_from_both_sources(void **state)
{
	check("etcd-node-1", ",\"annotations\":{\"kubernetes.io/config.source\":\"file\"}", "etcd",
	      "StaticPod");
	check("etcd-node-1", MIRROR(HASH, HASH) OWNER("Node", "node-1"), "etcd", "StaticPod");
	check("etcd", MIRROR(HASH, HASH) OWNER("Node", "node-1"), "etcd", "StaticPod");
	check("shop", ",\"annotations\":{\"kubernetes.io/config.source\":\"api\"}", "shop", "Pod");
	check("ds-node-1",
	      ",\"annotations\":{\"kubernetes.io/config.source\":\"file\"}" OWNER("DaemonSet",
										  "ds"),
	      "ds", "DaemonSet");
}

static void uid_of(const char *metadata, const char *expected)
{
	json_t *pod = make("etcd", metadata);
	const char *uid = pod_static_uid(pod);

	if (expected)
		assert_string_equal(uid, expected);
	else
		assert_null(uid);
	json_decref(pod);
}

/* Any user can set annotations: with another pod's uid in them, energy would move there. */
static void a_mirrors_uid_is_believed_only_with_its_node(void **state)
{
	uid_of(MIRROR(HASH, HASH) OWNER("Node", "node-1"), HASH);
	uid_of(MIRROR(HASH, HASH), NULL);
	uid_of(MIRROR(HASH, HASH) OWNER("ReplicaSet", "x"), NULL);
	uid_of(MIRROR(HASH, "file") OWNER("Node", "node-1"), NULL);
	uid_of(MIRROR("0123456789abcdef0123456789abcdeg", "0123456789abcdef0123456789abcdeg")
		       OWNER("Node", "node-1"),
	       NULL);
	uid_of(MIRROR("8a6c0b1e-0000-4000-8000-000000000001",
		      "8a6c0b1e-0000-4000-8000-000000000001") OWNER("Node", "node-1"),
	       NULL);
	uid_of(OWNER("Node", "node-1"), NULL);
}

static void reads_times(void **state)
{
	static const struct {
		const char *text;
		int64_t s;
	} good[] = {
		{ "1970-01-01T00:00:00Z", 0 },          { "2000-02-29T12:00:00Z", 951825600 },
		{ "2000-03-01T00:00:00Z", 951868800 },  { "2026-11-11T10:15:00Z", 1794392100 },
		{ "2100-03-01T00:00:00Z", 4107542400 }, { "2024-12-31T23:59:59Z", 1735689599 },
	};
	static const char *const wrong[] = { "",
					     "2026-11-11",
					     "2026-11-11T10:15:00",
					     "2026-11-11T10:15:00+",
					     "2026-13-11T10:15:00Z",
					     "2026-00-11T10:15:00Z",
					     "2026-11-32T10:15:00Z",
					     "2026-11-11T24:15:00Z",
					     "2026-11-11T10:60:00Z",
					     "2026-11-11T10:15:61Z",
					     "1969-11-11T10:15:00Z",
					     "2026-11-11T10:15:0xZ",
					     "2026-11-11 10:15:00Z" };
	int64_t s = 77;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		if (pod_parse_time(wrong[i], &s) != -EINVAL)
			fail_msg("%s is taken", wrong[i]);
	}
	assert_int_equal(s, 77);
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		if (pod_parse_time(good[i].text, &s) < 0 || s != good[i].s)
			fail_msg("%s: %lld", good[i].text, (long long)s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replica_sets_are_deployments_by_their_hash),
		cmocka_unit_test(jobs_are_cron_jobs_by_the_time_in_their_name),
		cmocka_unit_test(other_controllers_are_what_they_say),
		cmocka_unit_test(static_pods_look_the_same_from_both_sources),
		cmocka_unit_test(a_mirrors_uid_is_believed_only_with_its_node),
		cmocka_unit_test(reads_times),
	};

	return unit_run(tests);
}
