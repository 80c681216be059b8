// SPDX-License-Identifier: Apache-2.0
#include "kube/watch.h"

#include "tests/unit/unit.h"

static const char *const type_names[] = { "put", "deleted", "bookmark", "error", "bad" };

struct heard {
	struct strbuf text; /* "put@5 " … */
	int answer;
};

static int hear(void *userdata, const struct watch_event *event)
{
	struct heard *heard = userdata;

	strbuf_add_str(&heard->text, type_names[event->type]);
	if (event->type == WATCH_ERROR)
		strbuf_addf(&heard->text, ":%d:%s", event->code, event->message);
	else
		strbuf_addf(&heard->text, "@%s", event->resource_version);
	assert_int_equal(event->object != NULL,
			 event->type == WATCH_PUT || event->type == WATCH_DELETED);
	strbuf_add_char(&heard->text, ' ');
	return heard->answer;
}

static void check_max(const char *text, size_t max_line, const char *expected)
{
	size_t len = strlen(text);

	for (size_t step = 1; step <= len; step++) {
		struct heard heard = { 0 };
		struct watch watch;
		int r = 0;

		watch_init(&watch, max_line, hear, &heard);
		for (size_t at = 0; r == 0 && at < len; at += step)
			r = watch_feed(&watch, text + at, len - at < step ? len - at : step);
		if (r == 0)
			r = watch_end(&watch);
		assert_int_equal(r, 0);
		if (strcmp(heard.text.data ? heard.text.data : "", expected) != 0)
			fail_msg("%s in steps of %zu: %s", text, step, heard.text.data);
		watch_release(&watch);
		strbuf_release(&heard.text);
	}
}

static void check(const char *text, const char *expected)
{
	check_max(text, 4096, expected);
}

#define EVENT(type, version)                                                                       \
	"{\"type\":\"" type "\",\"object\":{\"metadata\":{\"resourceVersion\":\"" version "\"}}}"  \
	"\n"

static void distinguishes_events(void **state)
{
	check(EVENT("ADDED", "1") EVENT("MODIFIED", "2") EVENT("DELETED", "3")
		      EVENT("BOOKMARK", "4"),
	      "put@1 put@2 deleted@3 bookmark@4 ");
	check("\n \r\n" EVENT("ADDED", "1") "\r\n", "put@1 ");
}

static void both_forms_of_gone_are_one(void **state)
{
	check("{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":"
	      "\"Expired\","
	      "\"message\":\"too old\"}}\n",
	      "error:410:too old ");
	check("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"too "
	      "old\","
	      "\"reason\":\"Expired\",\"code\":410}",
	      "error:410:too old ");
	check("{\"type\":\"ERROR\",\"object\":{}}\n", "error:0: ");
	check("{\"type\":\"ERROR\",\"object\":{\"code\":-410}}\n", "error:0: ");
	check("{\"type\":\"ERROR\",\"object\":{\"code\":\"410\"}}\n", "error:0: ");
}

static void bad_lines_cost_themselves(void **state)
{
	check("garbage\n" EVENT("ADDED", "1"), "bad@ put@1 ");
	check("{\"type\":\"ADDED\"}\n{\"type\":\"ADDED\",\"object\":[]}\n[]\n1\n" EVENT("ADDED",
											"1"),
	      "bad@ bad@ bad@ bad@ put@1 ");
	check(EVENT("FUTURE", "7"), "bad@7 ");
	check("{\"type\":5,\"object\":{\"metadata\":{\"resourceVersion\":9}}}\n", "bad@ ");
	check("{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVersion\":\"1\"}", "bad@ ");
}

static void long_lines_are_skipped_to_their_end(void **state)
{
	check_max(EVENT("ADDED", "1") EVENT("ADDED", "111111111111111111111111")
			  EVENT("ADDED", "2"),
		  70, "put@1 bad@ put@2 ");
	check_max(EVENT("ADDED", "1") EVENT("ADDED", "111111111111111111111111"), 70,
		  "put@1 bad@ ");
}

static void the_hearer_may_end_it(void **state)
{
	static const char text[] = EVENT("ADDED", "1") EVENT("ADDED", "2");
	struct heard heard = { .answer = -ESTALE };
	struct watch watch;

	watch_init(&watch, 4096, hear, &heard);
	assert_int_equal(watch_feed(&watch, text, sizeof(text) - 1), -ESTALE);
	assert_string_equal(heard.text.data, "put@1 ");
	watch_release(&watch);
	strbuf_release(&heard.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(distinguishes_events),
		cmocka_unit_test(both_forms_of_gone_are_one),
		cmocka_unit_test(bad_lines_cost_themselves),
		cmocka_unit_test(long_lines_are_skipped_to_their_end),
		cmocka_unit_test(the_hearer_may_end_it),
	};

	return unit_run(tests);
}
