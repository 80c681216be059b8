// SPDX-License-Identifier: Apache-2.0
#include "truth/busy_commands.h"

#include <unistd.h>

#include "tests/unit/truth/truth_root.h"

/* A process of @command that began at @start and has used @ticks in user mode and in the kernel. */
static void run(unsigned pid, const char *command, unsigned start, unsigned ticks)
{
	char path[32], text[256];

	(void)snprintf(path, sizeof(path), "%u/stat", pid);
	(void)snprintf(text, sizeof(text),
		       "%u (%s) S 1 1 1 0 -1 0 0 0 0 0 %u 1 0 0 20 0 1 0 %u 0 0\n", pid, command,
		       ticks - 1, start);
	write_text(path, text);
}

static void the_busiest_come_first(void **state)
{
	static const char *const mine[] = { "kv-", "qemu-system-x86_64", NULL };
	CLEANUP(busy_look_release) struct busy_look before = { 0 }, after = { 0 };
	char text[BUSY_TEXT_MAX], expected[BUSY_TEXT_MAX];
	long hz = sysconf(_SC_CLK_TCK);

	run(10, "a (b) c", 5, 1000);
	run(11, "ended", 5, 1000);
	run(12, "kv-load", 5, 10);
	run(18, "qemu-system-x86", 5, 10); /* as the kernel cuts it */
	run(13, "idle", 5, 70);
	busy_look_take(root, &before);
	run(10, "a (b) c", 5, 1300);
	run(11, "again", 90, 40); /* its pid is used again */
	run(12, "kv-load", 5, 9000);
	run(18, "qemu-system-x86", 5, 8000);
	run(14, "again", 91, 50);
	run(15, "least", 92, 10);
	run(16, "beyond", 92, 9);
	write_text("17/stat", "17 (malformed\n");
	busy_look_take(root, &after);
	busy_commands_text(&before, &after, mine, text);
	(void)snprintf(expected, sizeof(expected), "a (b) c %.2f s, again %.2f s, least %.2f s",
		       300.0 / (double)hz, 90.0 / (double)hz, 10.0 / (double)hz);
	assert_string_equal(text, expected);
	busy_commands_text(&after, &after, mine, text);
	assert_string_equal(text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_busiest_come_first, make_root, remove_root),
	};
	return unit_run(tests);
}
