// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>

#include "export/catalog/catalog.h"
#include "tests/unit/unit.h"

static void names_follow_the_conventions(void **state)
{
	const struct family *family;

	for (size_t i = 0; (family = catalog_at(i)); i++) {
		size_t name_len = strlen(family->name), unit_len = strlen(family->unit);

		if (name_len + 8 >= FAMILY_NAME_MAX - 32 || unit_len >= name_len ||
		    strcmp(family->name + name_len - unit_len, family->unit) != 0 ||
		    strstr(family->name, "_total") || strstr(family->name, "_info") ||
		    strncmp(family->name, "kepler_", 7) != 0 || !family->schemas)
			fail_msg("%s", family->name);
		if ((!isupper((unsigned char)family->help[0]) &&
		     strncmp(family->help, "1 if ", 5) != 0) ||
		    strpbrk(family->help, "\n\\|") || family->help[strlen(family->help) - 1] != '.')
			fail_msg("help of %s", family->name);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(catalog_at(j)->name, family->name);
	}
}

/* A buffer of so many bytes is enough for a point's labels. */
static void labels_have_room(void **state)
{
	const struct family *family;

	for (size_t i = 0; (family = catalog_at(i)); i++) {
		size_t labels = 0;

		while (family->labels && family->labels[labels] != POINT_LABELS_END)
			labels++;
		if (labels > POINT_LABELS_MAX)
			fail_msg("%zu labels of %s", labels, family->name);
	}
}

static void a_zone_name_cannot_break_a_name(void **state)
{
	static const struct family gauge = { .name = "x_<zone>_watts" };
	char longer[200], name[FAMILY_NAME_MAX];

	memset(longer, 'z', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	family_name(&gauge, "a b{\"", name);
	assert_string_equal(name, "x_a_b___watts");
	family_name(&gauge, longer, name);
	assert_int_equal(strlen(name), FAMILY_NAME_MAX - 1);
	assert_string_equal(name + FAMILY_NAME_MAX - 1 - 7, "z_watts");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_follow_the_conventions),
		cmocka_unit_test(labels_have_room),
		cmocka_unit_test(a_zone_name_cannot_break_a_name),
	};

	return unit_run(tests);
}
