// SPDX-License-Identifier: Apache-2.0
/*
 * A shell script of QEMU's name stands for it: it answers on its console as a guest does, and
 * repeats its input.
 */
#include "trial/guest_machine.h"

#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/rig/remove_tree.h"
#include "tests/unit/unit.h"

#define PATIENCE_MS 60000

static char folder[32], kernel[64];

static void write_script(const char *text)
{
	char path[96];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, load_guest.program);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	(void)fprintf(file, "#!/bin/sh\n%s", text);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, 0755), 0);
}

static int make_folder(void **state)
{
	char path[4096];

	(void)snprintf(folder, sizeof(folder), "/tmp/kepler-guest-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	(void)snprintf(kernel, sizeof(kernel), "%s/vmlinuz", folder);
	FILE *file = fopen(kernel, "w");
	(void)snprintf(path, sizeof(path), "%s:/usr/bin:/bin", folder);
	return !file || fclose(file) != 0 || setenv("PATH", path, 1) < 0 ? -1 : 0;
}

static int remove_folder(void **state)
{
	remove_tree(folder);
	return 0;
}

static struct guest_options options_of(const char *kernel_file)
{
	return (struct guest_options){ kernel_file, "", "noapic", GUEST_ACCEL_TCG, 2, 512 };
}

static void start(struct guest_machine *ret)
{
	const struct guest_options options = options_of(kernel);
	struct diag diag = { "" };

	assert_int_equal(guest_machine_start(&options, "f00d", ret, &diag), 0);
}

static void pause_shortly(void)
{
	const struct timespec pause = { 0, 1000000 };

	(void)nanosleep(&pause, NULL);
}

/* Until the last line is @line. */
static void hear(struct guest_machine *machine, const char *line)
{
	for (int i = 0; strcmp(machine->last, line) != 0; i++) {
		assert_true(i < PATIENCE_MS);
		guest_machine_listen(machine);
		pause_shortly();
	}
}

static void a_guest_works_and_rests(void **state)
{
	struct guest_machine machine;

	write_script("echo booting\necho 'kepler-validator: the guest is ready'\n"
		     "while read -r word; do said=$said$word; echo \"said $said\"; done\n");
	start(&machine);
	hear(&machine, "kepler-validator: the guest is ready");
	assert_true(machine.is_ready);
	guest_machine_work(&machine, true);
	hear(&machine, "said rr");
	guest_machine_work(&machine, false);
	hear(&machine, "said rrs");
	assert_false(guest_machine_has_ended(&machine));
	pid_t pid = machine.pid;
	guest_machine_stop(&machine);
	assert_int_equal(kill(pid, 0), -1);
	guest_machine_stop(&machine);
}

static void the_last_words_of_qemu_are_kept(void **state)
{
	struct guest_machine machine;

	write_script("echo 'qemu: could not load kernel' >&2\n");
	start(&machine);
	while (!guest_machine_has_ended(&machine))
		pause_shortly();
	guest_machine_listen(&machine);
	assert_string_equal(machine.last, "qemu: could not load kernel");
	assert_false(machine.is_ready);
	guest_machine_work(&machine, true); /* nothing reads it */
	guest_machine_stop(&machine);
}

static void the_options_reach_qemu(void **state)
{
	struct guest_machine machine;

	write_script("echo \"$*\" | tr ' ' '\\n' | grep -A1 -E '^-(uuid|smp|m|kernel|accel)$' | "
		     "grep -v '^-' | tr '\\n' ' '; "
		     "case \"$*\" in *panic=-1\\ noapic*) echo appended;; esac\n");
	start(&machine);
	char words[256];
	(void)snprintf(words, sizeof(words), "f00d tcg 2 512 %s appended", kernel);
	hear(&machine, words);
	guest_machine_stop(&machine);
}

/* A process that starts a machine and is killed does not leave it behind. */
static void the_machine_ends_with_its_starter(void **state)
{
	int ends[2];
	char byte;

	write_script("exec sleep 1000\n");
	assert_int_equal(pipe(ends), 0);
	pid_t starter = fork();
	if (starter == 0) {
		struct guest_machine machine;

		start(&machine);
		(void)close(ends[0]);
		(void)!write(ends[1], "", 1);
		(void)raise(SIGKILL);
	}
	/* The machine has the pipe's other end as well: it ends only with both. */
	(void)close(ends[1]);
	assert_int_equal(waitpid(starter, NULL, 0), starter);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	assert_int_equal(read(ends[0], &byte, 1), 0);
	(void)close(ends[0]);
}

static void a_kernel_that_is_missing_is_named(void **state)
{
	const struct guest_options options = options_of("/nonexistent/vmlinuz");
	struct guest_machine machine;
	struct diag diag = { "" };

	assert_int_equal(guest_machine_start(&options, "f00d", &machine, &diag), -ENOENT);
	assert_non_null(strstr(diag.text, "vm.kernel: /nonexistent/vmlinuz"));
}

static void uuids_differ(void **state)
{
	char a[GUEST_UUID_SIZE], b[GUEST_UUID_SIZE];

	guest_uuid_make(a);
	guest_uuid_make(b);
	assert_string_not_equal(a, b);
	assert_int_equal(strlen(a), GUEST_UUID_SIZE - 1);
	assert_int_equal(a[14], '4');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_guest_works_and_rests, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(the_last_words_of_qemu_are_kept, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(the_options_reach_qemu, make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(the_machine_ends_with_its_starter, make_folder,
						remove_folder),
		cmocka_unit_test(a_kernel_that_is_missing_is_named),
		cmocka_unit_test(uuids_differ),
	};
	return unit_run(tests);
}
