// SPDX-License-Identifier: Apache-2.0
#include "base/timed_call.h"

#include <errno.h>
#include <unistd.h>

#include "tests/unit/truth/truth_root.h"
#include "truth/timed_file.h"

struct counting {
	char gate[64]; /* while this file exists, calls hang; "": none */
	int calls;
};

static ssize_t count_calls(void *state, void *ret)
{
	struct counting *counting = state;

	while (access(counting->gate, F_OK) == 0)
		(void)usleep(10000);
	counting->calls++;
	memcpy(ret, &counting->calls, sizeof(counting->calls));
	return sizeof(counting->calls);
}

static ssize_t refuse(void *state, void *ret)
{
	return -EPERM;
}

static ssize_t answer_a_lot(void *state, void *ret)
{
	memset(ret, 'x', TIMED_CALL_MAX);
	return TIMED_CALL_MAX;
}

/* The function keeps its state between calls; the caller's copy stays as it is. */
static void results_return(void **state)
{
	struct counting counting = { .calls = 4 };
	struct timed_call *timed = NULL;
	static char large[TIMED_CALL_MAX];
	int result = 0;

	assert_int_equal(timed_call_new(count_calls, &counting, &timed), 0);
	assert_int_equal(timed_call_make(timed, &result, sizeof(result)), sizeof(result));
	assert_int_equal(timed_call_make(timed, &result, sizeof(result)), sizeof(result));
	assert_int_equal(result, 6);
	assert_int_equal(counting.calls, 4);
	timed_call_free(timed);
	assert_int_equal(timed_call_once(refuse, NULL, &result, sizeof(result)), -EPERM);
	assert_int_equal(timed_call_once(answer_a_lot, NULL, &result, sizeof(result)), -EFBIG);
	assert_int_equal(timed_call_once(answer_a_lot, NULL, large, sizeof(large)), sizeof(large));
}

/* It costs the deadline once; afterwards, the late result does not answer a later call. */
static void a_call_that_hangs_is_left(void **state)
{
	struct counting counting = { .calls = 0 };
	struct timed_call *timed = NULL;
	ssize_t len;
	int result = 0;

	write_text("gate", "");
	(void)snprintf(counting.gate, sizeof(counting.gate), "%s/gate", root);
	assert_int_equal(timed_call_new(count_calls, &counting, &timed), 0);
	assert_int_equal(timed_call_make(timed, &result, sizeof(result)), -ETIMEDOUT);
	assert_int_equal(timed_call_make(timed, &result, sizeof(result)), -ETIMEDOUT);
	assert_string_equal(timed_call_error(-ETIMEDOUT), "there was no answer within 2 s");
	assert_int_equal(unlink(counting.gate), 0);
	while ((len = timed_call_make(timed, &result, sizeof(result))) == -ETIMEDOUT)
		(void)usleep(1000);
	assert_int_equal(len, sizeof(result));
	assert_int_equal(result, 2);
	timed_call_free(timed);
}

static void a_folder_has_names(void **state)
{
	CLEANUP(timed_names_release) struct timed_names names = { 0 };
	char path[64];
	unsigned found = 0;

	write_text("folder/a", "");
	write_text("folder/bc", "");
	(void)snprintf(path, sizeof(path), "%s/folder", root);
	assert_int_equal(timed_folder_read(path, &names), 0);
	for (const char *name = NULL; (name = timed_names_next(&names, name));)
		found |= strcmp(name, "a") == 0 ? 1U : strcmp(name, "bc") == 0 ? 2U : 0;
	assert_int_equal(found, 3);
	timed_names_release(&names);
	(void)snprintf(path, sizeof(path), "%s/none", root);
	assert_int_equal(timed_folder_read(path, &names), -ENOENT);
	assert_null(timed_names_next(&names, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results_return),
		cmocka_unit_test_setup_teardown(a_call_that_hangs_is_left, make_root, remove_root),
		cmocka_unit_test_setup_teardown(a_folder_has_names, make_root, remove_root),
	};
	return unit_run(tests);
}
