// SPDX-License-Identifier: Apache-2.0
#include "net/server/http_own_names.h"

#include "tests/unit/unit.h"

static bool have(const struct http_own_names *own, const char *name)
{
	return http_own_names_have(own, name, strlen(name));
}

static void the_first_label_names_the_host(void **state)
{
	struct http_own_names own = { .label_count = 0 };

	assert_false(have(&own, "vm.example.org"));
	http_own_names_add_host(&own, "vm");
	http_own_names_add_host(&own, "node-1.lab.example");
	http_own_names_add_host(&own, "VM");
	assert_int_equal(own.label_count, 2);
	assert_true(have(&own, "vm.example.org"));
	assert_true(have(&own, "Vm.local"));
	assert_true(have(&own, "node-1.other.example"));
	assert_false(have(&own, "xvm.example.org"));
	assert_false(have(&own, "v.example.org"));
	assert_false(have(&own, "example.vm"));
}

static void common_labels_are_no_names(void **state)
{
	static const char *const common[] = { "",         ".",  "localhost", "LocalHost.example",
					      "10.0.0.1", "a b" };
	struct http_own_names own = { .label_count = 0 };

	for (size_t i = 0; i < ARRAY_SIZE(common); i++)
		http_own_names_add_host(&own, common[i]);
	assert_int_equal(own.label_count, 0);
	for (size_t i = 0; i < 2 * HTTP_OWN_LABELS; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "host%zu", i);
		http_own_names_add_host(&own, name);
	}
	assert_int_equal(own.label_count, HTTP_OWN_LABELS);
}

static void services_belong_to_the_namespace(void **state)
{
	struct http_own_names own = { .label_count = 0 };

	assert_false(have(&own, "kepler.power.svc.k8s.example"));
	http_own_names_set_namespace(&own, "power");
	assert_true(have(&own, "kepler.power.svc.k8s.example"));
	assert_true(have(&own, "pod-1.kepler.Power.SVC.k8s.example"));
	assert_false(have(&own, "power.svc.evil.example"));
	assert_false(have(&own, "a.b.c.power.svc.evil.example"));
	assert_false(have(&own, "kepler.other.svc.k8s.example"));
	assert_false(have(&own, "kepler.power.svcs.k8s.example"));
	assert_false(have(&own, "kepler.power.svc."));
	http_own_names_set_namespace(&own, "po.wer");
	assert_string_equal(own.namespace_, "");
}

static void found_names_are_taken_once_and_up_to_a_limit(void **state)
{
	struct http_own_names own = { .label_count = 0 };
	struct strbuf text = STRBUF_INIT;

	http_own_names_add_host(&own, "vm");
	assert_true(http_own_names_add_found(&own, "web.example.org."));
	assert_true(have(&own, "WEB.example.org"));
	assert_false(have(&own, "web.example.orgs"));
	assert_false(http_own_names_add_found(&own, "web.example.org"));
	assert_false(http_own_names_add_found(&own, "vm.example.org"));
	assert_false(http_own_names_add_found(&own, "localhost.localdomain"));
	assert_false(http_own_names_add_found(&own, "10.example"));
	assert_false(http_own_names_add_found(&own, "a/b"));
	assert_false(http_own_names_add_found(&own, "."));
	http_own_names_describe(&own, &text);
	assert_string_equal(text.data, "vm, vm.*, web.example.org");
	strbuf_release(&text);
	for (size_t i = 0; i < 2 * HTTP_FOUND_NAMES; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "n%zu.example.org", i);
		(void)http_own_names_add_found(&own, name);
	}
	assert_int_equal(own.found_count, HTTP_FOUND_NAMES);
}

/* A longer one has no room, and is not a name of DNS: none of it is taken. */
static void names_are_as_long_as_in_dns(void **state)
{
	struct http_own_names own = { .label_count = 0 };
	char name[HTTP_NAME_MAX + 2];

	memset(name, 'a', sizeof(name));
	name[HTTP_LABEL_MAX + 1] = '\0';
	http_own_names_add_host(&own, name);
	http_own_names_set_namespace(&own, name);
	assert_int_equal(own.label_count, 0);
	assert_string_equal(own.namespace_, "");
	name[HTTP_LABEL_MAX] = '\0';
	http_own_names_add_host(&own, name);
	http_own_names_set_namespace(&own, name);
	assert_string_equal(own.labels[0], name);
	assert_string_equal(own.namespace_, name);
	memset(name, 'b', sizeof(name));
	name[HTTP_NAME_MAX + 1] = '\0';
	assert_false(http_own_names_add_found(&own, name));
	name[HTTP_NAME_MAX] = '\0';
	assert_true(http_own_names_add_found(&own, name));
	assert_string_equal(own.found[0], name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_label_names_the_host),
		cmocka_unit_test(common_labels_are_no_names),
		cmocka_unit_test(services_belong_to_the_namespace),
		cmocka_unit_test(found_names_are_taken_once_and_up_to_a_limit),
		cmocka_unit_test(names_are_as_long_as_in_dns),
	};

	return unit_run(tests);
}
