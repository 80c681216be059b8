// SPDX-License-Identifier: Apache-2.0
#include "runtimes/names.h"
#include "tests/unit/unit.h"

#define ID     "3f1c0d52a9e84b7760d1c2f8e5a4b39017c6d8e2f4a1b0935c7e6d8f2a4b1c30"
#define UID    "5f0c7a3e-1b2d-4c6f-9a8b-0d1e2f3a4b5c"
#define VICTIM "0d1e2f3a-4b5c-4c6f-9a8b-5f0c7a3e1b2d"
#define IN_POD "\"cgroupsPath\":\"/kubepods/burstable/pod" UID "/" ID "\""
#define IN_SLICE                                                                                   \
	"\"cgroupsPath\":\"kubepods-burstable-pod5f0c7a3e_1b2d_4c6f_9a8b_0d1e2f3a4b5c.slice"       \
	":crio:" ID "\""

struct seen {
	unsigned calls;
	char id[64], name[64], pod[64], space[64], uid[64];
	struct container_names numbers;
};

static void copy(char to[static 64], const char *text)
{
	(void)snprintf(to, 64, "%s", text ? text : "");
}

static int note(void *userdata, const struct container_names *names)
{
	struct seen *seen = userdata;

	seen->calls++;
	copy(seen->id, names->names.text[LABEL_CONTAINER_ID]);
	copy(seen->name, names->names.text[LABEL_CONTAINER_NAME]);
	copy(seen->pod, names->names.text[LABEL_POD_NAME]);
	copy(seen->space, names->names.text[LABEL_NAMESPACE]);
	copy(seen->uid, names->names.text[LABEL_POD_ID]);
	seen->numbers = *names;
	return 0;
}

static int read_text(const char *text, struct seen *seen)
{
	*seen = (struct seen){ .calls = 0 };
	return containerd_bundle_names(text, strlen(text), "id1", note, seen);
}

static int read_crio(const char *text, struct seen *seen)
{
	*seen = (struct seen){ .calls = 0 };
	return crio_bundle_names(text, strlen(text), "id1", note, seen);
}

static void test_containerd_cri(void **state)
{
	struct seen seen;

	assert_int_equal(read_text("{\"ociVersion\":\"1.0.2\",\"process\":{\"args\":[\"sh\"]},"
				   "\"annotations\":{"
				   "\"io.kubernetes.cri.container-type\":\"container\","
				   "\"io.kubernetes.cri.container-name\":\"web\","
				   "\"io.kubernetes.cri.sandbox-name\":\"shop-7\","
				   "\"io.kubernetes.cri.sandbox-namespace\":\"prod\","
				   "\"io.kubernetes.cri.sandbox-uid\":\"" UID "\"},"
				   "\"linux\":{" IN_POD
				   ",\"resources\":{\"cpu\":{\"shares\":512,\"quota\":150000,"
				   "\"period\":100000}}}}",
				   &seen),
			 0);
	assert_int_equal(seen.calls, 1);
	assert_string_equal(seen.id, "id1");
	assert_string_equal(seen.name, "web");
	assert_string_equal(seen.pod, "shop-7");
	assert_string_equal(seen.space, "prod");
	assert_string_equal(seen.uid, UID);
	assert_int_equal(seen.numbers.cpu_request_milli, 500);
	assert_int_equal(seen.numbers.cpu_limit_milli, 1500);
}

static void test_sandbox_is_pod(void **state)
{
	struct seen seen;

	assert_int_equal(read_text("{\"ociVersion\":\"1.0\",\"annotations\":{"
				   "\"io.kubernetes.cri.container-type\":\"sandbox\","
				   "\"io.kubernetes.cri.sandbox-uid\":\"" UID "\","
				   "\"io.kubernetes.cri.sandbox-name\":\"shop-7\"},"
				   "\"linux\":{" IN_POD "}}",
				   &seen),
			 0);
	assert_string_equal(seen.name, "POD");
	assert_string_equal(seen.pod, "shop-7");
}

static void test_crio(void **state)
{
	struct seen seen;

	assert_int_equal(read_crio("{\"ociVersion\":\"1.1.0\",\"annotations\":{"
				   "\"io.container.manager\":\"cri-o\","
				   "\"io.kubernetes.cri-o.ContainerType\":\"container\","
				   "\"io.kubernetes.container.name\":\"db\","
				   "\"io.kubernetes.pod.name\":\"db-0\","
				   "\"io.kubernetes.pod.namespace\":\"data\","
				   "\"io.kubernetes.pod.uid\":\"" UID "\"},"
				   "\"linux\":{" IN_SLICE
				   ",\"resources\":{\"cpu\":{\"shares\":2}}}}",
				   &seen),
			 0);
	assert_string_equal(seen.name, "db");
	assert_string_equal(seen.pod, "db-0");
	assert_string_equal(seen.space, "data");
	assert_string_equal(seen.uid, UID);
	assert_int_equal(seen.numbers.cpu_request_milli, 0); /* 2 shares: no request */
}

/* Keys of both runtimes, each with its own pod, as a pod's author or an image's can have them. */
#define BOTH(cri, crio)                                                                            \
	"{\"ociVersion\":\"1.0\",\"annotations\":{"                                                \
	"\"io.kubernetes.cri.sandbox-uid\":\"" cri "\",\"io.kubernetes.cri.sandbox-name\":\"a\","  \
	"\"io.kubernetes.cri.sandbox-namespace\":\"prod\",\"io.kubernetes.pod.uid\":\"" crio       \
	"\",\"io.kubernetes.pod.name\":\"b\",\"io.kubernetes.pod.namespace\":\"dev\"}"

static void test_each_runtime_has_its_own_keys(void **state)
{
	static const char text[] = BOTH(VICTIM, UID) ",\"linux\":{" IN_POD "}}";
	struct seen seen;

	assert_int_equal(read_crio(text, &seen), 0);
	assert_string_equal(seen.uid, UID);
	assert_string_equal(seen.pod, "b");
	assert_string_equal(seen.space, "dev");
	assert_int_equal(read_text(text, &seen), 0);
	assert_string_equal(seen.uid, "");
	assert_string_equal(seen.pod, "");
}

static void test_the_cgroup_says_which_pod(void **state)
{
	static const char *const elsewhere[] = {
		BOTH(UID, UID) "}",
		BOTH(UID, UID) ",\"linux\":{\"cgroupsPath\":\"/default/" ID "\"}}",
		BOTH(UID, UID) ",\"linux\":{\"cgroupsPath\":7}}",
		BOTH(VICTIM, VICTIM) ",\"linux\":{" IN_POD
				     ",\"resources\":{\"cpu\":{\"shares\":9}}}}",
		BOTH(VICTIM, VICTIM) ",\"linux\":{" IN_SLICE "}}",
		BOTH("", "") ",\"linux\":{\"cgroupsPath\":\"/default/" ID "\"}}",
	};
	struct seen seen;

	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++) {
		for (int crio = 0; crio < 2; crio++) {
			assert_int_equal(crio ? read_crio(elsewhere[i], &seen)
					      : read_text(elsewhere[i], &seen),
					 0);
			assert_string_equal(seen.uid, "");
			assert_string_equal(seen.pod, "");
			assert_string_equal(seen.space, "");
			assert_int_equal(seen.numbers.cpu_request_milli, 0);
		}
	}
}

static void test_nerdctl_shares_are_no_request(void **state)
{
	struct seen seen;

	assert_int_equal(read_text("{\"ociVersion\":\"1.0\",\"annotations\":"
				   "{\"nerdctl/name\":\"alpine-1\"},"
				   "\"linux\":{\"resources\":{\"cpu\":{\"shares\":4096}}}}",
				   &seen),
			 0);
	assert_string_equal(seen.name, "alpine-1");
	assert_string_equal(seen.pod, "");
	assert_int_equal(seen.numbers.cpu_request_milli, 0);
}

static void test_numbers_out_of_range(void **state)
{
	struct seen seen;

	assert_int_equal(
		read_crio("{\"ociVersion\":\"1.0\",\"annotations\":{\"io.kubernetes.pod.name\":"
			  "\"p\",\"io.kubernetes.pod.uid\":\"" UID "\"},"
			  "\"linux\":{" IN_POD
			  ",\"resources\":{\"cpu\":{\"shares\":9223372036854775807,"
			  "\"quota\":9223372036854775807,\"period\":1}}}}",
			  &seen),
		0);
	assert_int_equal(seen.numbers.cpu_request_milli, 0);
	assert_int_equal(seen.numbers.cpu_limit_milli, 0);
	assert_int_equal(read_text("{\"ociVersion\":\"1.0\",\"linux\":{\"resources\":{\"cpu\":"
				   "{\"quota\":-1,\"period\":-9223372036854775808}}}}",
				   &seen),
			 0);
	assert_int_equal(seen.numbers.cpu_limit_milli, 0);
}

static void test_wrong_types(void **state)
{
	struct seen seen;

	assert_int_equal(
		read_text("{\"ociVersion\":\"1.0\",\"annotations\":[1,2],\"linux\":7}", &seen), 0);
	assert_string_equal(seen.name, "");
	assert_int_equal(read_text("{\"ociVersion\":\"1.0\",\"annotations\":"
				   "{\"nerdctl/name\":{\"a\":1}}}",
				   &seen),
			 0);
	assert_string_equal(seen.name, "");
	/* A NUL ends a name. */
	assert_int_equal(read_text("{\"ociVersion\":\"1.0\",\"annotations\":"
				   "{\"nerdctl/name\":\"a\\u0000b\"}}",
				   &seen),
			 0);
	assert_string_equal(seen.name, "a");
}

static void test_not_a_configuration(void **state)
{
	static const char *const texts[] = { "",
					     "null",
					     "[]",
					     "{}",
					     "{\"ociVersion\":1}",
					     "{\"ociVersion\":\"1.0\"",
					     "\xff\xfe",
					     "{\"ociVersion\"" };
	struct seen seen;
	char *deep;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(read_text(texts[i], &seen), -EBADMSG);
		assert_int_equal(seen.calls, 0);
	}
	deep = malloc(100001);
	assert_non_null(deep);
	memset(deep, '[', 100000);
	deep[100000] = '\0';
	assert_int_equal(read_text(deep, &seen), -EBADMSG);
	free(deep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_containerd_cri),
		cmocka_unit_test(test_sandbox_is_pod),
		cmocka_unit_test(test_crio),
		cmocka_unit_test(test_each_runtime_has_its_own_keys),
		cmocka_unit_test(test_the_cgroup_says_which_pod),
		cmocka_unit_test(test_nerdctl_shares_are_no_request),
		cmocka_unit_test(test_numbers_out_of_range),
		cmocka_unit_test(test_wrong_types),
		cmocka_unit_test(test_not_a_configuration),
	};

	return unit_run(tests);
}
