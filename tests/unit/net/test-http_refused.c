// SPDX-License-Identifier: Apache-2.0
#include "net/server/http_refused.h"

#include "tests/unit/unit.h"

static void note(struct http_refused *refused, const char *host)
{
	http_refused_note(refused, host, strlen(host));
}

static void a_name_is_taken_once(void **state)
{
	struct http_refused refused;

	http_refused_init(&refused);
	assert_null(http_refused_take(&refused));
	note(&refused, "vm.example.org:28282");
	note(&refused, "vm.example.org");
	note(&refused, "other.example");
	assert_string_equal(http_refused_take(&refused), "vm.example.org");
	note(&refused, "vm.example.org");
	assert_string_equal(http_refused_take(&refused), "other.example");
	assert_null(http_refused_take(&refused));
}

static void names_are_printable_and_limited(void **state)
{
	struct http_refused refused;
	char name[200];
	size_t taken = 0;

	http_refused_init(&refused);
	http_refused_note(&refused, "a\033[2J\n\0b", 8);
	assert_string_equal(http_refused_take(&refused), "a?[2J??b");
	memset(name, 'a', sizeof(name));
	http_refused_note(&refused, name, sizeof(name));
	assert_int_equal(strlen(http_refused_take(&refused)), HTTP_REFUSED_NAME_MAX);
	for (unsigned i = 0; i < 100; i++) {
		(void)snprintf(name, sizeof(name), "n%u.example", i);
		note(&refused, name);
	}
	while (http_refused_take(&refused))
		taken++;
	assert_int_equal(taken, HTTP_REFUSED_NAMES - 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_taken_once),
		cmocka_unit_test(names_are_printable_and_limited),
	};

	return unit_run(tests);
}
