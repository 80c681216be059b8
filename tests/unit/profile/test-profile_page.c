// SPDX-License-Identifier: Apache-2.0
#include "profile/profile_page.h"

#include <jansson.h>

#include "tests/unit/unit.h"

static const struct profile_about about = { "make <all>", "measured", "50 % lack <callers>", 2.5 };

static uint32_t add(struct profile *profile, uint32_t parent, const char *name, uint64_t energy_uj)
{
	uint32_t node = profile_child(profile, parent, profile_frame(profile, name, FRAME_USER));

	profile->nodes[node].energy_uj[RUN_NOW] += energy_uj;
	return node;
}

/* Two stacks, with names that could end a script or a string. */
static void fill(struct profile *profile)
{
	uint32_t owner;

	assert_int_equal(profile_init(profile, 100), 0);
	owner = add(profile, PROFILE_ROOT, "make", 0);
	add(profile, add(profile, owner, "</script><b>", 5), "quote\"\\", 30);
	add(profile, owner, "operator<<", 7);
}

/* The data of the page; owned. */
static json_t *data_of(const char *page)
{
	static const char begin[] = "<script type=\"application/json\" id=\"profile\">";
	const char *at = strstr(page, begin), *end;

	assert_non_null(at);
	at += strlen(begin);
	end = strstr(at, "</script>");
	assert_non_null(end);
	return json_loadb(at, (size_t)(end - at), 0, NULL);
}

static void the_page_has_the_whole_profile(void **state)
{
	struct strbuf page = STRBUF_INIT;
	struct profile profile;
	json_t *data, *nodes, *node;
	uint64_t sum_uj = 0;
	size_t i;

	fill(&profile);
	profile_page_html(&profile, &about, &page);
	assert_int_equal(strbuf_error(&page), 0);
	data = data_of(page.data);
	assert_non_null(data);
	assert_string_equal(json_string_value(json_object_get(data, "title")), "make <all>");
	assert_string_equal(json_string_value(json_object_get(data, "quality")), "measured");
	assert_string_equal(json_string_value(json_object_get(data, "caveat")),
			    "50 % lack <callers>");
	nodes = json_object_get(data, "nodes");
	assert_int_equal(json_array_size(nodes), profile.node_count);
	json_array_foreach(nodes, i, node)
	{
		assert_true(i == 0 || json_integer_value(json_array_get(node, 0)) < (int)i);
		sum_uj += (uint64_t)json_integer_value(json_array_get(node, 2));
	}
	assert_true(sum_uj == 42);
	assert_null(strstr(page.data, "://"));
	assert_null(strstr(page.data, "<!-- data -->"));
	json_decref(data);
	strbuf_release(&page);
	profile_release(&profile);
}

static void a_comparison_has_both_runs(void **state)
{
	struct strbuf page = STRBUF_INIT;
	struct profile profile;
	json_t *data, *node;

	fill(&profile);
	profile.is_compared = true;
	profile.nodes[1].energy_uj[RUN_BEFORE] = 9;
	profile_page_html(&profile, &about, &page);
	data = data_of(page.data);
	node = json_array_get(json_object_get(data, "nodes"), 1);
	assert_true(json_is_true(json_object_get(data, "compared")));
	assert_int_equal(json_integer_value(json_array_get(node, 3)), 9);
	json_decref(data);
	strbuf_release(&page);
	profile_release(&profile);
}

/* The sums and the references that speedscope's importer relies on. */
static void speedscope_gets_the_same_energy(void **state)
{
	struct strbuf text = STRBUF_INIT;
	struct profile profile;
	json_t *file, *first, *samples, *weights, *frames;
	json_int_t sum_uj = 0;

	fill(&profile);
	profile_page_speedscope(&profile, &about, &text);
	file = json_loadb(text.data, text.len, 0, NULL);
	assert_non_null(file);
	frames = json_object_get(json_object_get(file, "shared"), "frames");
	first = json_array_get(json_object_get(file, "profiles"), 0);
	samples = json_object_get(first, "samples");
	weights = json_object_get(first, "weights");
	assert_int_equal(json_array_size(samples), 3);
	assert_int_equal(json_array_size(weights), 3);
	for (size_t i = 0; i < 3; i++) {
		json_t *stack = json_array_get(samples, i), *frame;
		size_t k;

		sum_uj += json_integer_value(json_array_get(weights, i));
		json_array_foreach(stack, k, frame)
			assert_true(json_integer_value(frame) < (int)json_array_size(frames));
		frame = json_array_get(frames,
				       (size_t)json_integer_value(json_array_get(stack, 0)));
		assert_string_equal(json_string_value(json_object_get(frame, "name")), "make");
	}
	assert_int_equal(sum_uj, 42);
	assert_int_equal(json_integer_value(json_object_get(first, "endValue")), 42);
	json_decref(file);
	strbuf_release(&text);
	profile_release(&profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_page_has_the_whole_profile),
		cmocka_unit_test(a_comparison_has_both_runs),
		cmocka_unit_test(speedscope_gets_the_same_energy),
	};

	return unit_run(tests);
}
