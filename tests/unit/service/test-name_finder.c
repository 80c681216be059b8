// SPDX-License-Identifier: Apache-2.0
/* The process that looks up names: what it is given is read here, and nothing waits for it. */
#include "service/name_finder.h"

#include <poll.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static size_t one_address(struct sockaddr_storage *ret, size_t max)
{
	(void)max;
	ret[0].ss_family = AF_INET;
	return 1;
}

static bool some_name(const struct sockaddr_storage *address, char *ret, size_t size)
{
	(void)address;
	(void)snprintf(ret, size, "one.example");
	return true;
}

static bool long_name(char *ret, size_t size)
{
	memset(ret, 'a', size - 1);
	ret[size - 1] = '\0';
	return true;
}

static bool no_answer(char *ret, size_t size)
{
	(void)ret;
	(void)size;
	(void)pause();
	return false;
}

static bool no_name(char *ret, size_t size)
{
	(void)ret;
	(void)size;
	return false;
}

static bool wait_for_data(const struct name_finder *finder)
{
	struct pollfd ready = { .fd = finder->fd, .events = POLLIN };

	return poll(&ready, 1, 30000) == 1;
}

static void names_come_through_the_pipe(void **state)
{
	const struct address_names_source source = { one_address, some_name, no_name };
	struct name_finder finder = NAME_FINDER_INIT;
	const char *name;

	assert_null(name_finder_next(&finder));
	assert_int_equal(name_finder_start(&finder, &source, NULL), 0);
	while (!(name = name_finder_next(&finder)) && finder.fd >= 0)
		assert_true(wait_for_data(&finder));
	assert_string_equal(name, "one.example");
	while (finder.fd >= 0) {
		assert_true(wait_for_data(&finder));
		assert_null(name_finder_next(&finder));
	}
	name_finder_close(&finder);
}

static void a_name_that_is_too_long_is_left_out(void **state)
{
	const struct address_names_source source = { one_address, some_name, long_name };
	struct name_finder finder = NAME_FINDER_INIT;
	const char *name;

	assert_int_equal(name_finder_start(&finder, &source, NULL), 0);
	while (!(name = name_finder_next(&finder)) && finder.fd >= 0)
		assert_true(wait_for_data(&finder));
	assert_string_equal(name, "one.example");
	name_finder_close(&finder);
}

static void no_answer_is_not_waited_for(void **state)
{
	const struct address_names_source source = { one_address, some_name, no_answer };
	struct name_finder finder = NAME_FINDER_INIT;

	assert_int_equal(name_finder_start(&finder, &source, NULL), 0);
	assert_null(name_finder_next(&finder));
	assert_true(finder.fd >= 0);
	name_finder_close(&finder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_come_through_the_pipe),
		cmocka_unit_test(a_name_that_is_too_long_is_left_out),
		cmocka_unit_test(no_answer_is_not_waited_for),
	};

	return unit_run(tests);
}
