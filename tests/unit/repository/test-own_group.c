// SPDX-License-Identifier: Apache-2.0
#include "repository/own_group.h"

#include "tests/unit/unit.h"

#define FEATURES 3

struct made_up {
	struct trained_model model;
	struct model_component components[2];
	struct model_feature features[2][FEATURES];
};

/* Features of two components, separated by blanks. */
static void make_model(struct made_up *ret, const char *const texts[2])
{
	memset(ret, 0, sizeof(*ret));
	ret->model.components = ret->components;
	for (size_t c = 0; c < 2 && texts[c]; c++) {
		struct model_component *component = &ret->components[ret->model.component_count++];
		char copy[300], *rest = copy, *word;

		(void)snprintf(copy, sizeof(copy), "%s", texts[c]);
		component->features = ret->features[c];
		while ((word = strsep(&rest, " "))) {
			struct model_feature *feature =
				&component->features[component->feature_count++];

			(void)snprintf(feature->name, sizeof(feature->name), "%s", word);
		}
	}
}

static void features_have_a_name(void **state)
{
	static const char name[] = "a_very_long_feature_name_of_thirty_x";
	static const struct {
		const char *components[2], *group;
	} cases[] = {
		{ { "bpf_page_cache_hit bpf_cpu_time_ms", NULL }, "BPFOnly" },
		{ { "cpu_cycles bpf_cpu_time_ms", NULL }, "own.bpf_cpu_time_ms-cpu_cycles" },
		{ { "bpf_cpu_time_ms cpu_cycles", NULL }, "own.bpf_cpu_time_ms-cpu_cycles" },
		{ { "cpu_cycles", "bpf_cpu_time_ms cpu_cycles" },
		  "own.bpf_cpu_time_ms-cpu_cycles" },
		{ { "bpf_page_cache_hit", "bpf_cpu_time_ms" }, "BPFOnly" },
	};
	struct made_up made_up;
	char group[ENTRY_NAME_MAX], other[ENTRY_NAME_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		make_model(&made_up, cases[i].components);
		own_group_name(&made_up.model, group);
		assert_string_equal(group, cases[i].group);
	}
	make_model(&made_up, (const char *const[]){ "../x b", NULL });
	own_group_name(&made_up.model, group);
	assert_memory_equal(group, "own.2-features-", 15);
	assert_int_equal(strlen(group), 15 + 16);
	make_model(&made_up, (const char *const[]){ "../y b", NULL });
	own_group_name(&made_up.model, other);
	assert_string_not_equal(group, other);
	make_model(&made_up, (const char *const[]){ "b cpu_instructions_of_all_threads", name });
	own_group_name(&made_up.model, group);
	assert_memory_equal(group, "own.3-features-", 15);
}

static void a_group_that_is_given_stays(void **state)
{
	struct made_up made_up;
	char group[ENTRY_NAME_MAX];

	make_model(&made_up, (const char *const[]){ "cpu_cycles", NULL });
	memcpy(made_up.model.feature_group, "Mine", 5);
	own_group_name(&made_up.model, group);
	assert_string_equal(group, "Mine");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(features_have_a_name),
		cmocka_unit_test(a_group_that_is_given_stays),
	};

	return unit_run(tests);
}
