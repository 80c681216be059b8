// SPDX-License-Identifier: Apache-2.0
/* Names of owners: the same text is the same pointer, all is clean, and nothing is left. */
#include "energy/owner_names.h"

#include "tests/rig/property.h"
#include "tests/unit/unit.h"

#define PAIRS(array) .extra = (array), .extra_count = ARRAY_SIZE(array)

static struct names_table *table;

static int open_table(void **state)
{
	table = names_table_get(NULL);
	return table ? 0 : -1;
}

/* Every test gives back what it took. */
static int close_table(void **state)
{
	assert_int_equal((int)names_table_count(table), 0);
	names_table_put(table);
	return 0;
}

static const struct owner_names *intern(const struct owner_names *names)
{
	const struct owner_names *interned = owner_names_intern(table, names);

	assert_non_null(interned);
	return interned;
}

static void test_same_text_is_the_same_pointer(void **state)
{
	char id[] = "c1";
	const struct owner_names a = { .text = { [LABEL_CONTAINER_ID] = "c1" } };
	const struct owner_names b = { .text = {
					       [LABEL_CONTAINER_ID] = id, [LABEL_RUNTIME] = "" } };
	const struct owner_names c = { .text = { [LABEL_CONTAINER_NAME] = "c1" } };
	const struct owner_names *one = intern(&a), *same = intern(&b), *other = intern(&c);

	assert_ptr_equal(one, same);
	assert_ptr_not_equal(one, other);
	assert_int_equal((int)names_table_count(table), 2);
	for (size_t i = 0; i < LABEL_KEY_COUNT; i++)
		assert_non_null(one->text[i]);
	id[0] = 'x'; /* it has its own copy */
	assert_string_equal(one->text[LABEL_CONTAINER_ID], "c1");
	assert_true(owner_names_id_hash(one) == owner_names_hash("c1"));
	owner_names_unref(one);
	assert_string_equal(same->text[LABEL_CONTAINER_ID], "c1");
	owner_names_unref(same);
	owner_names_unref(other);
	owner_names_unref(NULL);
	assert_null(owner_names_ref(NULL));
}

/* A tab is ordinary in an annotation: it removes neither its own label nor the labels after it. */
static void test_no_byte_costs_a_label(void **state)
{
	const struct label pairs[] = { { "label_a", "x\ty\"\\\n" },
				       { "label_b", "\x01\x7f" },
				       { "label_c", "z\xff" } };
	const struct owner_names said = { PAIRS(pairs) };
	const struct owner_names *names = intern(&said);

	assert_int_equal((int)names->extra_count, 3);
	assert_string_equal(names->extra[0].value, "x\xffy\"\\\n"); /* not escaped */
	assert_string_equal(names->extra[1].value, "\xff\xff");
	assert_string_equal(names->extra[2].value, "z\xff");
	owner_names_unref(names);
}

static void test_names_of_pairs_are_safe_to_print(void **state)
{
	static const struct label pairs[] = {
		{ "label_a", "1" },  { "pod_name", "not over ours" }, { "label_b\"} 1", "2" },
		{ "", "3" },         { "label_a", "twice" },          { "label_\xc3\xa9", "4" },
		{ "label_B_9", "" },
	};
	const struct owner_names said = { PAIRS(pairs) };
	const struct owner_names *names = intern(&said);

	assert_int_equal((int)names->extra_count, 2);
	assert_string_equal(names->extra[0].value, "1");
	assert_string_equal(names->extra[1].name, "label_B_9");
	owner_names_unref(names);
}

static void test_what_is_too_long_is_cut_or_left_out(void **state)
{
	char text[400], names_of[OWNER_EXTRA_MAX + 2][16];
	struct label pairs[OWNER_EXTRA_MAX + 2];
	struct owner_names said = { .text = { [LABEL_POD_NAME] = text }, PAIRS(pairs) };
	const struct owner_names *names;

	memset(text, 'n', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		(void)snprintf(names_of[i], sizeof(names_of[i]), "label_%02zu", i);
		pairs[i] = (struct label){ names_of[i], text };
	}
	names = intern(&said);
	assert_int_equal(strlen(names->text[LABEL_POD_NAME]), OWNER_NAME_MAX);
	/* 8 + 127 + 4 bytes each. */
	assert_int_equal((int)names->extra_count, OWNER_EXTRA_BYTES / 139);
	assert_int_equal(strlen(names->extra[6].value), OWNER_NAME_MAX);
	owner_names_unref(names);
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		pairs[i].value = "";
	names = intern(&said);
	assert_int_equal((int)names->extra_count, OWNER_EXTRA_MAX);
	owner_names_unref(names);
}

static void test_parts_are_in_the_table_too(void **state)
{
	static const struct label app[] = { { "label_app", "shop" } };
	const struct owner_names said = { .text = { [LABEL_CONTAINER_ID] = "c1",
						    [LABEL_NAMESPACE] = "shop",
						    [LABEL_POD_ID] = "p1",
						    [LABEL_QOS_CLASS] = "Burstable" },
					  PAIRS(app) };
	const struct owner_names pod_said = {
		.text = { [LABEL_NAMESPACE] = "shop", [LABEL_POD_ID] = "p1" }, PAIRS(app)
	};
	const struct owner_names *names = intern(&said), *pod = intern(&pod_said);
	const struct owner_names *part = owner_names_part(names, label_group_keys(LABELS_OF_POD));
	const struct owner_names *facts =
		owner_names_part(names, label_group_keys(LABELS_OF_POD_FACTS));

	assert_ptr_equal(part, pod);
	assert_string_equal(facts->text[LABEL_QOS_CLASS], "Burstable");
	assert_string_equal(facts->text[LABEL_POD_ID], "");
	assert_int_equal((int)facts->extra_count, 0);
	assert_true(owner_names_agree(names, pod, label_group_keys(LABELS_OF_POD)));
	assert_false(owner_names_agree(names, pod, LABELS_CONTAINER));
	assert_true(owner_names_know(names, label_group_keys(LABELS_OF_POD_FACTS)));
	assert_false(owner_names_know(pod, label_group_keys(LABELS_OF_POD_FACTS) |
						   label_group_keys(LABELS_OF_VM)));
	owner_names_unref(names);
	owner_names_unref(pod);
	owner_names_unref(part);
	owner_names_unref(facts);
}

static void test_a_table_lives_as_long_as_its_names(void **state)
{
	const struct owner_names said = { .text = { [LABEL_VM_ID] = "v1" } };
	struct names_table *own = names_table_get(NULL);
	const struct owner_names *names;

	assert_non_null(own);
	names = owner_names_intern(own, &said);
	names_table_put(own);
	assert_string_equal(names->text[LABEL_VM_ID], "v1");
	owner_names_unref(names);
	names_table_put(NULL);
}

#define HELD 40

/* Any history of references: equal content is one pointer, and the table has what is held. */
static const char *pointers_are_contents(struct property_source *source, void *userdata)
{
	static const char *const texts[] = { "", "a", "b", "ab", "\xff", "\xfe" };
	const struct owner_names *held[HELD] = { NULL };
	size_t different = 0;
	const char *wrong = NULL;

	(void)userdata;
	for (int step = 0; step < 120; step++) {
		size_t at = draw_below(source, HELD);
		const struct label pair = { draw_chance(source, 2) ? "label_a" : "label_b",
					    texts[draw_below(source, 6)] };
		struct owner_names said = { .extra = &pair, .extra_count = draw_below(source, 2) };

		said.text[draw_below(source, 3)] = texts[draw_below(source, 6)];
		said.text[draw_below(source, 3)] = texts[draw_below(source, 6)];
		owner_names_unref(held[at]);
		held[at] = intern(&said);
	}
	for (size_t i = 0; i < HELD; i++) {
		bool first = held[i];

		for (size_t j = 0; j < i; j++) {
			bool equal = held[i] && held[j] &&
				     owner_names_agree(held[i], held[j], LABELS_EXTRA - 1) &&
				     held[i]->extra_count == held[j]->extra_count &&
				     (!held[i]->extra_count ||
				      (strcmp(held[i]->extra->name, held[j]->extra->name) == 0 &&
				       strcmp(held[i]->extra->value, held[j]->extra->value) == 0));

			if (held[i] && equal != (held[i] == held[j]))
				wrong = "equal names and equal pointers differ";
			first &= !equal;
		}
		different += first;
	}
	if (names_table_count(table) != different)
		wrong = "the table does not have just what is held";
	for (size_t i = 0; i < HELD; i++)
		owner_names_unref(held[i]);
	return wrong;
}

static void test_any_history(void **state)
{
	assert_true(property_check("owner names", pointers_are_contents, NULL, 3000));
}

static void test_many(void **state)
{
	static const struct owner_names *many[5000];
	char id[16];
	struct owner_names said = { .text = { [LABEL_CONTAINER_ID] = id } };

	for (size_t i = 0; i < ARRAY_SIZE(many); i++) {
		(void)snprintf(id, sizeof(id), "c%zu", i);
		many[i] = intern(&said);
	}
	assert_int_equal((int)names_table_count(table), ARRAY_SIZE(many));
	for (size_t i = 0; i < ARRAY_SIZE(many); i++) {
		(void)snprintf(id, sizeof(id), "c%zu", i);
		assert_ptr_equal(intern(&said), many[i]);
		owner_names_unref(many[i]);
		owner_names_unref(many[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_text_is_the_same_pointer),
		cmocka_unit_test(test_no_byte_costs_a_label),
		cmocka_unit_test(test_names_of_pairs_are_safe_to_print),
		cmocka_unit_test(test_what_is_too_long_is_cut_or_left_out),
		cmocka_unit_test(test_parts_are_in_the_table_too),
		cmocka_unit_test(test_a_table_lives_as_long_as_its_names),
		cmocka_unit_test(test_any_history),
		cmocka_unit_test(test_many),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, open_table, close_table);
}
