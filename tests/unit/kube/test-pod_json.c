// SPDX-License-Identifier: Apache-2.0
#include "kube/pods/pod_json.h"

#include "pods.h"
#include "tests/unit/unit.h"

struct rig {
	json_t *object;
	struct pod_labels labels;
	struct pod pod;
};

static void read_pod(struct rig *rig, const char *text, const char *labels)
{
	rig->object = json_loads(text, 0, NULL);
	if (!rig->object)
		fail_msg("no JSON: %s", text);
	assert_int_equal(pod_labels_parse(labels, &rig->labels, NULL), 0);
	assert_int_equal(pod_json_read(rig->object, &rig->labels, &rig->pod), 0);
}

static void release(struct rig *rig)
{
	pod_release(&rig->pod);
	pod_labels_release(&rig->labels);
	json_decref(rig->object);
}

static const struct container_names *find(const struct rig *rig, const char *id)
{
	for (size_t i = 0; i < rig->pod.count; i++) {
		if (strcmp(rig->pod.containers[i].names.text[LABEL_CONTAINER_ID], id) == 0)
			return &rig->pod.containers[i];
	}
	fail_msg("no %s", id);
	return NULL;
}

static void check_container(const struct rig *rig, const char *id, const char *name)
{
	const struct container_names *names = find(rig, id);

	assert_string_equal(names->names.text[LABEL_CONTAINER_NAME], name);
	assert_string_equal(names->names.text[LABEL_POD_NAME], "shop-7d4b9c-x2x4z");
	assert_string_equal(names->names.text[LABEL_NAMESPACE], "prod");
	assert_string_equal(names->names.text[LABEL_POD_ID], "uid-1");
	assert_string_equal(names->names.text[LABEL_WORKLOAD], "shop");
	assert_string_equal(names->names.text[LABEL_WORKLOAD_TYPE], "Deployment");
	assert_string_equal(names->names.extra[0].name, "label_app");
	assert_string_equal(names->names.extra[0].value, "shop");
}

static void reads_every_kind_of_container(void **state)
{
	struct rig rig;
	const struct container_names *names;

	read_pod(&rig, POD_FULL, "app");
	assert_string_equal(rig.pod.uid, "uid-1");
	assert_int_equal(rig.pod.count, 5);
	check_container(&rig, ID_A, "main");
	check_container(&rig, ID_B, "side");
	check_container(&rig, ID_C, "init");
	check_container(&rig, ID_D, "debug");
	check_container(&rig, ID_E, "main"); /* before the restart */
	names = find(&rig, ID_A);
	assert_int_equal(names->cpu_request_milli, 100);
	assert_int_equal(names->cpu_limit_milli, 1000);
	names = find(&rig, ID_B);
	assert_int_equal(names->cpu_request_milli + names->cpu_limit_milli, 0);
	release(&rig);
}

#define POD(status) "{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"uid\":\"u\"}," status "}"

/* Only its uid is reported. */
static void check_pod_alone(const struct pod *pod)
{
	assert_int_equal(pod->count, 1);
	assert_string_equal(pod->containers[0].names.text[LABEL_CONTAINER_ID],
			    DIRECTORY_POD_PREFIX "u");
	assert_string_equal(pod->containers[0].names.text[LABEL_POD_ID], "u");
	assert_string_equal(pod->containers[0].names.text[LABEL_POD_NAME], "p");
	assert_null(pod->containers[0].names.text[LABEL_CONTAINER_NAME]);
}

static void a_pod_may_have_no_containers_yet(void **state)
{
	static const char *const texts[] = {
		POD("\"status\":{}"),
		POD("\"status\":{\"containerStatuses\":[{\"name\":\"a\",\"containerID\":\"\"}]}"),
		POD("\"status\":{\"containerStatuses\":[{\"name\":\"a\"}]}"),
		POD("\"status\":null"),
		POD("\"status\":{\"containerStatuses\":{\"a\":1}}"),
		POD("\"status\":{\"containerStatuses\":[1,null,[],\"x\"]}"),
	};
	struct rig rig;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		read_pod(&rig, texts[i], NULL);
		check_pod_alone(&rig.pod);
		release(&rig);
	}
}

static void an_invalid_id_is_left_out(void **state)
{
	static const char *const texts[] = {
		POD("\"status\":{\"containerStatuses\":[{\"containerID\":\"containerd://\"}]}"),
		POD("\"status\":{\"containerStatuses\":[{\"containerID\":\"containerd://../x\"}]}"),
		POD("\"status\":{\"containerStatuses\":[{\"containerID\":\"a\\\"b\"}]}"),
		POD("\"status\":{\"containerStatuses\":[{\"containerID\":\"a\\nb\"}]}"),
		POD("\"status\":{\"containerStatuses\":[{\"containerID\":\"" ID_A ID_B "x\"}]}"),
	};
	struct rig rig;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		read_pod(&rig, texts[i], NULL);
		check_pod_alone(&rig.pod);
		assert_int_equal(rig.pod.skipped, 1);
		release(&rig);
	}
	read_pod(&rig, POD("\"status\":{\"containerStatuses\":[{\"containerID\":\"\"}]}"), NULL);
	assert_int_equal(rig.pod.skipped, 0); /* it has not begun yet */
	release(&rig);
}

static void what_does_not_fit_is_counted(void **state)
{
	struct strbuf text = STRBUF_INIT;
	struct rig rig;

	strbuf_add_str(&text, "{\"metadata\":{\"name\":\"n\",\"namespace\":\"s\",\"uid\":\"u\","
			      "\"annotations\":{\"a\":\"");
	for (size_t i = 0; i <= POD_LABEL_VALUE_MAX; i++)
		strbuf_add_char(&text, 'x');
	strbuf_add_str(&text, "\"}},\"status\":{\"containerStatuses\":[");
	for (unsigned i = 0; i < POD_STATUSES_MAX + 3; i++)
		strbuf_addf(&text, "%s{\"containerID\":\"c%u\"}", i ? "," : "", i);
	strbuf_add_str(&text, "]}}");
	read_pod(&rig, text.data, "a");
	assert_int_equal(rig.pod.count, POD_STATUSES_MAX);
	assert_int_equal(rig.pod.skipped, 3);
	assert_int_equal(rig.pod.labels->lost, 1);
	release(&rig);
	strbuf_release(&text);
}

static void a_mirror_pod_has_the_uid_of_its_cgroup(void **state)
{
	struct rig rig;

	read_pod(
		&rig,
		"{\"metadata\":{\"name\":\"etcd-node-1\",\"namespace\":\"kube-system\",\"uid\":"
		"\"u\","
		"\"ownerReferences\":[{\"kind\":\"Node\",\"name\":\"node-1\",\"controller\":true}],"
		"\"annotations\":{\"kubernetes.io/config.hash\":"
		"\"0123456789abcdef0123456789abcdef\",\"kubernetes.io/config.mirror\":"
		"\"0123456789abcdef0123456789abcdef\"}},\"spec\":{\"nodeName\":\"node-1\"},"
		"\"status\":{\"containerStatuses\":[{\"name\":\"etcd\",\"containerID\":"
		"\"containerd://" ID_A "\"}]}}",
		NULL);
	assert_string_equal(rig.pod.uid, "u");
	assert_string_equal(find(&rig, ID_A)->names.text[LABEL_POD_ID],
			    "0123456789abcdef0123456789abcdef");
	assert_string_equal(find(&rig, ID_A)->names.text[LABEL_WORKLOAD], "etcd");
	assert_string_equal(find(&rig, ID_A)->names.text[LABEL_WORKLOAD_TYPE], "StaticPod");
	release(&rig);
}

static void the_qos_class_is_one_of_three(void **state)
{
	static const struct {
		const char *said;
		const char *expected;
	} cases[] = {
		{ "\"Guaranteed\"", "Guaranteed" },
		{ "\"Burstable\"", "Burstable" },
		{ "\"BestEffort\"", "BestEffort" },
		{ "\"burstable\"", "" },
		{ "\"Burstable \"", "" },
		{ "\"\"", "" },
		{ "null", "" },
		{ "[\"Burstable\"]", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct rig rig;
		char text[512];

		(void)snprintf(text, sizeof(text),
			       "{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"uid\":\"u\"},"
			       "\"status\":{\"qosClass\":%s,\"containerStatuses\":[{\"name\":\"a\","
			       "\"containerID\":\"containerd://" ID_A "\"}]}}",
			       cases[i].said);
		read_pod(&rig, text, NULL);
		assert_string_equal(find(&rig, ID_A)->names.text[LABEL_QOS_CLASS],
				    cases[i].expected);
		release(&rig);
	}
}

static void odd_amounts_are_unknown_amounts(void **state)
{
	struct rig rig;

	read_pod(&rig,
		 "{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"uid\":\"u\"},"
		 "\"spec\":{\"containers\":[{\"name\":\"a\",\"resources\":{\"requests\":"
		 "{\"cpu\":\"-1\",\"memory\":\"16Ei\"},\"limits\":{\"cpu\":\"9999999999\","
		 "\"memory\":\"lots\"}}}]},\"status\":{\"containerStatuses\":[{\"name\":\"a\","
		 "\"image\":\"i\",\"containerID\":\"" ID_A "\"},{\"name\":\"b\",\"image\":\"j\","
		 "\"containerID\":\"" ID_B "\"}]}}",
		 NULL);
	assert_int_equal(find(&rig, ID_A)->cpu_request_milli, 0);
	assert_int_equal(find(&rig, ID_A)->cpu_limit_milli, UINT32_MAX);
	assert_int_equal(find(&rig, ID_B)->cpu_request_milli, 0); /* no spec of that name */
	release(&rig);
}

static void an_invalid_pod_is_refused(void **state)
{
	static const char *const wrong[] = {
		"{}",
		"[]",
		"{\"metadata\":{}}",
		"{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\"}}",
		"{\"metadata\":{\"name\":\"p\",\"uid\":\"u\"}}",
		"{\"metadata\":{\"namespace\":\"n\",\"uid\":\"u\"}}",
		"{\"metadata\":{\"name\":\"\",\"namespace\":\"n\",\"uid\":\"u\"}}",
		"{\"metadata\":{\"name\":1,\"namespace\":\"n\",\"uid\":\"u\"}}",
		"{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"uid\":\"" ID_A "\"}}",
	};
	const struct pod_labels none = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		json_t *object = json_loads(wrong[i], 0, NULL);
		struct pod pod = { .count = 77 };

		if (pod_json_read(object, &none, &pod) != -EINVAL)
			fail_msg("%s is taken", wrong[i]);
		assert_int_equal(pod.count, 77);
		json_decref(object);
	}
	assert_int_equal(pod_json_read(NULL, &none, &(struct pod){ 0 }), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_kind_of_container),
		cmocka_unit_test(a_pod_may_have_no_containers_yet),
		cmocka_unit_test(an_invalid_id_is_left_out),
		cmocka_unit_test(what_does_not_fit_is_counted),
		cmocka_unit_test(a_mirror_pod_has_the_uid_of_its_cgroup),
		cmocka_unit_test(the_qos_class_is_one_of_three),
		cmocka_unit_test(odd_amounts_are_unknown_amounts),
		cmocka_unit_test(an_invalid_pod_is_refused),
	};

	return unit_run(tests);
}
