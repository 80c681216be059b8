// SPDX-License-Identifier: Apache-2.0
#include "kube/pods/pod_prune.h"

#include "tests/unit/unit.h"

static void check(const char *text, const char *expected)
{
	size_t len = strlen(text);
	char *exact = malloc(len ? len : 1), *out = malloc(len ? len : 1);

	assert_non_null(exact);
	assert_non_null(out);
	memcpy(exact, text, len);
	len = pod_prune(exact, len, out);
	if (len != strlen(expected) || memcmp(out, expected, len) != 0)
		fail_msg("%s became %.*s", text, (int)len, out);
	free(exact);
	free(out);
}

static void trees_that_are_not_read_go(void **state)
{
	check("{\"env\":[{\"name\":\"A\"}],\"name\":\"main\"}", "{\"env\":0,\"name\":\"main\"}");
	check("{\"a\":{\"managedFields\" : {\"x\":[{}]} , \"b\":1}}",
	      "{\"a\":{\"managedFields\" : 0 , \"b\":1}}");
	check("{\"volumes\":[{\"a\":\"]}\\\"\\\\\"}],\"ports\":[]}", "{\"volumes\":0,\"ports\":0}");
	check("{\"env\":{\"env\":{\"env\":[]}}}", "{\"env\":0}");
}

static void what_may_be_read_stays(void **state)
{
	static const char *const same[] = {
		"{\"labels\":{\"env\":\"prod\",\"volumes\":\"2\"}}",
		"{\"env\":null,\"ports\":5}",
		"{\"environment\":{\"a\":1},\"en\":{},\"xenv\":[]}",
		"{\"a\":\"env\",\"b\":[\"env\",{\"c\":1}]}",
		"{\"a\":\"\\\"env\\\":{\"}",
		"{\"resources\":{\"requests\":{\"cpu\":\"1\"}},\"lastState\":{\"terminated\":{}}}",
		"{\"metadata\":{\"name\":\"p\",\"ownerReferences\":[{}],\"annotations\":{}}}",
		"",
		"{}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(same); i++)
		check(same[i], same[i]);
}

static void what_is_broken_stays_broken(void **state)
{
	check("{\"env\":[{", "{\"env\":0");
	check("{\"env\":[\"", "{\"env\":0");
	check("{\"env\":[\"\\", "{\"env\":0");
	check("{\"env\"", "{\"env\"");
	check("{\"env\":", "{\"env\":");
	check("\"", "\"");
	check("\"\\", "\"\\");
	check("\"env", "\"env");
	check("{\"env\":]}", "{\"env\":]}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees_that_are_not_read_go),
		cmocka_unit_test(what_may_be_read_stays),
		cmocka_unit_test(what_is_broken_stays_broken),
	};

	return unit_run(tests);
}
