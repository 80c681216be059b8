// SPDX-License-Identifier: Apache-2.0
#include "kube/pods/pod_addresses.h"

#include "tests/unit/unit.h"

static const struct pod_selector selectors[] = {
	{ .namespace_ = "shop" },
	{ .terms = { { .key = "app", .value = "web" },
		     { .is_annotation = true, .key = "example.org/units", .value = "yes" } },
	  .term_count = 2 },
	{ .namespace_ = "" }, /* selects nothing */
};

struct pod_text {
	const char *namespace_, *app, *note, *phase, *address;
};

static const struct pod_text web = { "shop", "web", "yes", "Running", "10.0.0.1" };

static void put(struct pod_addresses *addresses, uint64_t number, const struct pod_text *text)
{
	json_t *pod = json_pack("{s:{s:s,s:s,s:{s:s},s:{s:s}},s:{s:s,s:s}}", "metadata", "name",
				"web-1", "namespace", text->namespace_, "labels", "app", text->app,
				"annotations", "example.org/units", text->note, "status", "phase",
				text->phase, "podIP", text->address);

	assert_non_null(pod);
	pod_addresses_put(addresses, (struct map_key){ 1, number }, "uid-1", pod);
	json_decref(pod);
}

/* The selectors of the only entry; 0: there is none. */
static uint32_t selected(struct pod_addresses *addresses)
{
	static struct pod_address found[POD_ADDRESSES_MAX];
	uint64_t beyond;
	size_t count = pod_addresses_copy(addresses, found, &beyond);

	assert_true(count <= 1);
	assert_int_equal(beyond, 0);
	if (!count)
		return 0;
	assert_string_equal(found[0].uid, "uid-1");
	assert_string_equal(found[0].name, "web-1");
	return found[0].selectors;
}

static struct pod_addresses *new_addresses(void)
{
	struct pod_addresses *addresses;

	assert_int_equal(pod_addresses_new(selectors, ARRAY_SIZE(selectors), &addresses), 0);
	return addresses;
}

static void test_selection(void **state)
{
	struct pod_addresses *addresses = new_addresses();
	struct pod_text text = web;

	put(addresses, 1, &text);
	assert_int_equal(selected(addresses), 3);
	text.note = "no";
	put(addresses, 1, &text);
	assert_int_equal(selected(addresses), 1);
	text.namespace_ = "other";
	put(addresses, 1, &text);
	assert_int_equal(selected(addresses), 0);
	text.note = "yes";
	put(addresses, 1, &text);
	assert_int_equal(selected(addresses), 2);
	pod_addresses_remove(addresses, (struct map_key){ 1, 2 });
	assert_int_equal(selected(addresses), 2);
	pod_addresses_remove(addresses, (struct map_key){ 1, 1 });
	assert_int_equal(selected(addresses), 0);
	pod_addresses_unref(addresses);
}

static void test_pods_without_an_address(void **state)
{
	static const char *const addresses_text[] = { "", "name", "10.0.0.1:80", "10.0.0.1/x" };
	struct pod_addresses *addresses = new_addresses();
	struct pod_text text = web;

	for (size_t i = 0; i < ARRAY_SIZE(addresses_text); i++) {
		put(addresses, 1, &web);
		assert_int_equal(selected(addresses), 3);
		text.address = addresses_text[i];
		put(addresses, 1, &text);
		assert_int_equal(selected(addresses), 0);
	}
	text = web;
	text.phase = "Succeeded";
	put(addresses, 1, &text);
	assert_int_equal(selected(addresses), 0);
	text = web;
	text.address = "fd00::1";
	put(addresses, 1, &text);
	assert_int_equal(selected(addresses), 3);
	pod_addresses_unref(addresses);
}

static void test_number_is_limited(void **state)
{
	struct pod_addresses *addresses = new_addresses();
	static struct pod_address found[POD_ADDRESSES_MAX];
	uint64_t beyond;

	for (uint64_t i = 0; i < POD_ADDRESSES_MAX + 3; i++)
		put(addresses, i, &web);
	assert_int_equal(pod_addresses_copy(addresses, found, &beyond), POD_ADDRESSES_MAX);
	assert_int_equal(beyond, 3);
	assert_ptr_equal(pod_addresses_ref(addresses), addresses);
	pod_addresses_unref(addresses);
	pod_addresses_unref(addresses);
	pod_addresses_unref(NULL);
	assert_null(pod_addresses_ref(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_selection),
		cmocka_unit_test(test_pods_without_an_address),
		cmocka_unit_test(test_number_is_limited),
	};

	return unit_run(tests);
}
