// SPDX-License-Identifier: Apache-2.0
#include "runtimes/names.h"
#include "tests/unit/unit.h"

/* The names handed over, as "ID|NAME|POD|NAMESPACE|UID;". */
struct seen {
	char text[1024];
	unsigned calls, end_after;
	uint64_t bad;
};

static int note(void *userdata, const struct container_names *names)
{
	struct seen *seen = userdata;
	size_t len = strlen(seen->text);

	(void)snprintf(seen->text + len, sizeof(seen->text) - len, "%s|%s|%s|%s|%s;",
		       names->names.text[LABEL_CONTAINER_ID],
		       names->names.text[LABEL_CONTAINER_NAME],
		       names->names.text[LABEL_POD_NAME] ? names->names.text[LABEL_POD_NAME] : "",
		       names->names.text[LABEL_NAMESPACE] ? names->names.text[LABEL_NAMESPACE] : "",
		       names->names.text[LABEL_POD_ID] ? names->names.text[LABEL_POD_ID] : "");
	return ++seen->calls == seen->end_after ? -EIO : 0;
}

static int read_list(const char *text, struct seen *seen)
{
	unsigned end_after = seen->end_after;

	*seen = (struct seen){ .end_after = end_after };
	return docker_list_names(text, strlen(text), &seen->bad, note, seen);
}

static void test_docker(void **state)
{
	struct seen seen = { .calls = 0 };

	assert_int_equal(read_list("[]", &seen), 0);
	assert_int_equal(seen.calls, 0);
	assert_int_equal(
		read_list(" [ "
			  "{\"Id\":\"a1\",\"Names\":[\"/other/alias\",\"/"
			  "web\"],\"Image\":\"nginx:1\","
			  "\"Labels\":{}},\n{\"Id\":\"b2\",\"Names\":[\"/k8s_x_p_n_u_0\"],"
			  "\"Image\":\"i\",\"Labels\":{\"io.kubernetes.container.name\":\"x\","
			  "\"io.kubernetes.pod.name\":\"p\",\"io.kubernetes.pod.namespace\":\"n\","
			  "\"io.kubernetes.pod.uid\":\"u\"}} ] ",
			  &seen),
		0);
	assert_string_equal(seen.text, "a1|web|||;b2|x|p|n|u;");
}

#define POD_LABELS                                                                                 \
	"\"Labels\":{\"io.kubernetes.container.name\":\"x\",\"io.kubernetes.pod.name\":"           \
	"\"p\",\"io.kubernetes.pod.namespace\":\"n\",\"io.kubernetes.pod.uid\":\"u\"}"

/*
 * Docker merges an image's LABELs into its containers' labels. The kubelet's containers have a name
 * that says the same, and names are not the image's.
 */
static void test_labels_of_an_image_name_no_pod(void **state)
{
	static const char *const names[] = { "web", "k8s_x_p_n", "k8s_x_p_n_v_0", "x_p_n_u_0",
					     "k8s_x_p_other_u_0" };
	struct seen seen = { .calls = 0 };
	char text[512], want[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		(void)snprintf(want, sizeof(want), "a1|%s|||;", names[i]);
		(void)snprintf(text, sizeof(text),
			       "[{\"Id\":\"a1\",\"Names\":[\"/%s\"],\"Image\":\"i\"," POD_LABELS
			       "}]",
			       names[i]);
		assert_int_equal(read_list(text, &seen), 0);
		assert_string_equal(seen.text, want);
		(void)snprintf(
			text, sizeof(text),
			"{\"ID\":\"a1\",\"Name\":\"/%s\",\"Config\":{\"Image\":\"i\"," POD_LABELS
			"}}",
			names[i]);
		seen = (struct seen){ .calls = 0 };
		assert_int_equal(docker_config_names(text, strlen(text), note, &seen), 0);
		assert_string_equal(seen.text, want);
	}
}

static void test_podman(void **state)
{
	struct seen seen = { .calls = 0 };

	/* Podman's compatible API: null for no labels, name with a slash as Docker's. */
	assert_int_equal(read_list("[{\"Id\":\"c3\",\"Names\":[\"/db\"],\"Image\":\"docker.io/db\","
				   "\"Labels\":null,\"State\":\"running\"}]",
				   &seen),
			 0);
	assert_string_equal(seen.text, "c3|db|||;");
}

/* The parser would recurse as deep as the text says; elements before it are not reported either. */
static void test_too_deep_is_not_parsed(void **state)
{
	static const char list[] = "[{\"Id\":\"a1\"},", config[] = "{\"ID\":\"a1\",\"x\":";
	struct seen seen = { .calls = 0 };
	char text[4096];

	memset(text, '[', sizeof(text));
	text[2000] = '\0';
	memset(text + 1000, ']', 1000);
	memcpy(text, list, sizeof(list) - 1);
	assert_int_equal(read_list(text, &seen), -EBADMSG);
	memcpy(text, config, sizeof(config) - 1);
	memcpy(text + 2000 - (sizeof(config) - 1), "}", 2);
	assert_int_equal(docker_config_names(text, strlen(text), note, &seen), -EBADMSG);
	assert_int_equal(seen.calls, 0);
}

static void test_bad_elements_are_counted(void **state)
{
	struct seen seen = { .calls = 0 };

	assert_int_equal(
		read_list("[1,null,\"x\",{},[],{\"Id\":7},{\"Id\":\"../../etc\"},{\"Id\":\"\"},"
			  "{\"Id\":\"ok\",\"Names\":[3,null,\"/\xc3\xa4\"],\"Image\":{}}]",
			  &seen),
		0);
	assert_int_equal(seen.bad, 8);
	assert_string_equal(seen.text, "ok|\xc3\xa4|||;");
}

static void test_cut_list_keeps_what_came(void **state)
{
	static const char *const ends[] = { "", ",", ",{", "x", ",]", " {\"Id\":\"b\"}]" };
	struct seen seen = { .calls = 0 };
	char text[128];

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		(void)snprintf(text, sizeof(text), "[{\"Id\":\"a\",\"Names\":[\"/n\"]}%s", ends[i]);
		assert_int_equal(read_list(text, &seen), -EBADMSG);
		assert_string_equal(seen.text, "a|n|||;");
	}
	assert_int_equal(read_list("{\"message\":\"page not found\"}", &seen), -EBADMSG);
	assert_int_equal(read_list("", &seen), -EBADMSG);
	assert_int_equal(read_list("<html>", &seen), -EBADMSG);
}

static void test_callback_ends_it(void **state)
{
	struct seen seen = { .end_after = 1 };

	assert_int_equal(read_list("[{\"Id\":\"a\"},{\"Id\":\"b\"}]", &seen), -EIO);
	assert_int_equal(seen.calls, 1);
}

static int read_config(const char *text, struct seen *seen)
{
	*seen = (struct seen){ .calls = 0 };
	return docker_config_names(text, strlen(text), note, seen);
}

static void test_state_file(void **state)
{
	struct seen seen;

	assert_int_equal(
		read_config("{\"ID\":\"a1\",\"Name\":\"/web\",\"State\":{\"Running\":true},"
			    "\"Config\":{\"Image\":\"nginx\",\"Env\":[\"SECRET=1\"],"
			    "\"Labels\":{\"a\":\"b\"}}}",
			    &seen),
		0);
	assert_string_equal(seen.text, "a1|web|||;");
	assert_int_equal(read_config("{\"Name\":\"/web\"}", &seen), -EBADMSG);
	assert_int_equal(read_config("{\"ID\":\"a/b\",\"Name\":\"/web\"}", &seen), -EBADMSG);
	assert_int_equal(read_config("[]", &seen), -EBADMSG);
	assert_int_equal(read_config("{\"ID\":\"a1\"", &seen), -EBADMSG);
	assert_int_equal(seen.calls, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_docker),
		cmocka_unit_test(test_labels_of_an_image_name_no_pod),
		cmocka_unit_test(test_podman),
		cmocka_unit_test(test_too_deep_is_not_parsed),
		cmocka_unit_test(test_bad_elements_are_counted),
		cmocka_unit_test(test_cut_list_keeps_what_came),
		cmocka_unit_test(test_callback_ends_it),
		cmocka_unit_test(test_state_file),
	};

	return unit_run(tests);
}
