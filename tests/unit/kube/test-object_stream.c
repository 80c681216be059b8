// SPDX-License-Identifier: Apache-2.0
#include "kube/object_stream.h"

#include "tests/unit/unit.h"

/* The objects received, as "{item}|-|{item}" ("-": too large), and the rest. */
struct heard {
	struct strbuf items;
	int answer;
};

static int take_item(void *userdata, const char *text, size_t len)
{
	struct heard *heard = userdata;

	if (heard->items.len)
		strbuf_add_char(&heard->items, '|');
	if (text)
		strbuf_add(&heard->items, text, len);
	else
		strbuf_add_char(&heard->items, '-');
	return heard->answer;
}

/* Feeds @text in parts of @step bytes; the result of feeding, else of the end. */
static int feed(const char *text, size_t step, size_t max_item, struct heard *heard,
		struct strbuf *rest)
{
	size_t len = strlen(text);
	struct object_stream stream;
	int r = 0;

	*heard = (struct heard){ 0 };
	object_stream_init(&stream, max_item, take_item, heard);
	for (size_t at = 0; r == 0 && at < len; at += step)
		r = object_stream_feed(&stream, text + at, len - at < step ? len - at : step);
	if (r == 0)
		r = object_stream_end(&stream);
	strbuf_reset(rest);
	strbuf_add(rest, stream.rest.data ? stream.rest.data : "", stream.rest.len);
	object_stream_release(&stream);
	return r;
}

static void check(const char *text, const char *items, const char *rest_expected)
{
	struct strbuf rest = STRBUF_INIT;
	struct heard heard;

	for (size_t step = 1; step < strlen(text) + 2; step++) {
		int r = feed(text, step, 64, &heard, &rest);

		if (r < 0 || strcmp(heard.items.data ? heard.items.data : "", items) != 0 ||
		    strcmp(rest.data, rest_expected) != 0)
			fail_msg("%s in steps of %zu: %d, items %s, rest %s", text, step, r,
				 heard.items.data, rest.data);
		strbuf_release(&heard.items);
	}
	strbuf_release(&rest);
}

static void cuts_lists_into_items(void **state)
{
	check("{\"kind\":\"PodList\",\"items\":[{\"a\":1},{\"b\":[{}]}],\"z\":2}",
	      "{\"a\":1}|{\"b\":[{}]}", "{\"kind\":\"PodList\",\"items\":[],\"z\":2}");
	check(" {\"items\" : [\n {\"a\":\"]}\\\"\\\\\"} ,\n{}\n]\n}\n", "{\"a\":\"]}\\\"\\\\\"}|{}",
	      " {\"items\" : []\n}");
	check("{\"items\":[]}", "", "{\"items\":[]}");
	check("{\"items\":null,\"a\":[{}]}", "", "{\"items\":null,\"a\":[{}]}");
}

static void only_the_outer_items_count(void **state)
{
	check("{\"metadata\":{\"items\":[{}]},\"items\":[{}]}", "{}",
	      "{\"metadata\":{\"items\":[{}]},\"items\":[]}");
	check("{\"a\":\"items\",\"b\":[{}]}", "", "{\"a\":\"items\",\"b\":[{}]}");
	check("{\"xitems\":[{}],\"items2\":[{}]}", "", "{\"xitems\":[{}],\"items2\":[{}]}");
	check("{\"items\":{\"items\":[{}]}}", "", "{\"items\":{\"items\":[{}]}}");
	check("{\"items\":[{\"items\":[{\"a\":1}]}]}", "{\"items\":[{\"a\":1}]}", "{\"items\":[]}");
	check("{\"items\":[[1],{}]}", "[1]|{}", "{\"items\":[]}");
	check("{\"items\":[1,\"x\",{}]}", "{}", "{\"items\":[]}");
}

static void a_large_item_is_left_out(void **state)
{
	struct strbuf rest = STRBUF_INIT;
	struct heard heard;

	for (size_t step = 1; step < 60; step++) {
		assert_int_equal(
			feed("{\"items\":[{\"a\":1},{\"b\":\"0123456789\"},{\"c\":\"0\"}]}", step,
			     9, &heard, &rest),
			0);
		assert_string_equal(heard.items.data, "{\"a\":1}|-|{\"c\":\"0\"}");
		strbuf_release(&heard.items);
	}
	strbuf_release(&rest);
}

static void an_invalid_object_is_refused(void **state)
{
	static const char *const wrong[] = { "",
					     "[]",
					     "x",
					     "\"a\"",
					     "{",
					     "{\"a\":[",
					     "{}}",
					     "{} x",
					     "{}{}",
					     "]",
					     "<html>",
					     "{\"items\":[{}",
					     "{\"items\":[{}]",
					     "{\"a" };
	struct strbuf rest = STRBUF_INIT;
	struct heard heard;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		if (feed(wrong[i], 3, 64, &heard, &rest) != -EPROTO)
			fail_msg("%s is taken", wrong[i]);
		strbuf_release(&heard.items);
	}
	strbuf_release(&rest);
}

static void the_rest_is_bounded(void **state)
{
	size_t len = OBJECT_STREAM_REST_MAX;
	char *text = malloc(len + 8);
	struct strbuf rest = STRBUF_INIT;
	struct heard heard;

	assert_non_null(text);
	memset(text, ' ', len + 8);
	text[0] = '{';
	text[len + 6] = '}';
	text[len + 7] = '\0';
	assert_int_equal(feed(text, 1000, 64, &heard, &rest), -EMSGSIZE);
	/* Items are no rest: a list of any length passes. */
	memcpy(text, "{\"items\":[", 10);
	memcpy(text + len + 4, "{}]}", 4);
	text[len + 7] = '\0';
	memcpy(text + len + 3, "{}]}", 4);
	assert_int_equal(feed(text, 1000, 64, &heard, &rest), 0);
	assert_string_equal(heard.items.data, "{}");
	strbuf_release(&heard.items);
	strbuf_release(&rest);
	free(text);
}

static int refuse(void *userdata, const char *text, size_t len)
{
	(void)userdata;
	(void)text;
	(void)len;
	return -ECANCELED;
}

static void the_taker_may_end_it(void **state)
{
	static const char text[] = "{\"items\":[{},{}]}";
	struct object_stream stream;

	object_stream_init(&stream, 64, refuse, NULL);
	assert_int_equal(object_stream_feed(&stream, text, sizeof(text) - 1), -ECANCELED);
	object_stream_release(&stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cuts_lists_into_items),
		cmocka_unit_test(only_the_outer_items_count),
		cmocka_unit_test(a_large_item_is_left_out),
		cmocka_unit_test(an_invalid_object_is_refused),
		cmocka_unit_test(the_rest_is_bounded),
		cmocka_unit_test(the_taker_may_end_it),
	};

	return unit_run(tests);
}
