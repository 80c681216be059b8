// SPDX-License-Identifier: Apache-2.0
#include "meter/shared_fds.h"

#include <fcntl.h>
#include <unistd.h>

#include "tests/unit/unit.h"

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void closed_with_the_last_reference(void **state)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	{
		CLEANUP(shared_fds_release) struct shared_fds *reader = NULL;
		struct shared_fds *owner = shared_fds_new(fds, 2, 7);

		assert_non_null(owner);
		assert_int_equal(owner->generation, 7);
		assert_int_equal(owner->count, 2);
		reader = shared_fds_ref(owner);
		shared_fds_unref(owner);
		assert_true(is_open(fds[0]) && is_open(fds[1]));
		assert_int_equal(reader->fds[1], fds[1]);
	}
	assert_false(is_open(fds[0]) || is_open(fds[1]));
	assert_null(shared_fds_ref(NULL));
	shared_fds_unref(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(closed_with_the_last_reference) };

	return unit_run(tests);
}
