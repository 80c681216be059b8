// SPDX-License-Identifier: Apache-2.0
/* Which sources can claim a process as a virtual machine, and which of them may hang. */
#include "workload/vm_owners.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/num.h"
#include "machine_rig.h"
#include "proc_rig.h"
#include "tests/unit/unit.h"

/* ---- which source claims it ---- */

static void start_as(uint32_t pid, uint32_t uid, const char *exe, const char *words)
{
	machine_start(pid, SHELL, words);
	rig_uid(pid, uid);
	if (exe)
		rig_exe(pid, exe);
}

static uint64_t overflows(void)
{
	struct identity_info info;

	identity_resolver_get_info(resolver, &info);
	return info.machine_overflows;
}

#define QEMU "/usr/bin/qemu-system-x86_64"

static void test_a_name_alone_makes_no_machine(void **state)
{
	struct process_ref told = { 10, 5 * S, 1, "kvm", false };

	start_as(7, 1000, "/usr/bin/python3", WORDS);
	machine_check(7, 1, "session-1.scope");
	start_as(8, 1000, NULL, WORDS); /* what it runs cannot be seen */
	machine_check(8, 1, "session-1.scope");
	start_as(9, 1000, QEMU " (deleted)", WORDS); /* QEMU was upgraded */
	machine_check(9, 1, VM "@1000");
	rig_process(10, "kvm", 5, SHELL); /* the reader knows better than /proc */
	rig_cmdline(10, WORDS);
	rig_uid(10, 1001);
	rig_exe(10, QEMU);
	told.exe = PROCESS_EXE_OTHER;
	assert_string_equal(machine_resolve(&told)->names->text[LABEL_CONTAINER_ID],
			    "session-1.scope");
	told.exe = PROCESS_EXE_HYPERVISOR; /* it has executed one */
	assert_string_equal(machine_resolve(&told)->names->text[LABEL_CONTAINER_ID], VM "@1001");
	told.exe = PROCESS_EXE_OTHER; /* at its end nothing is reported any more */
	assert_string_equal(machine_resolve(&told)->names->text[LABEL_CONTAINER_ID], VM "@1001");
}

/* Met first or last, a stranger with the same words changes nothing for root's machine. */
static void test_a_users_machine_is_no_others(void **state)
{
	const struct identity *identity;

	start_as(7, 1000, QEMU, WORDS);
	identity = machine_at(7, COMM, 1);
	assert_string_equal(identity->names->text[LABEL_CONTAINER_ID], VM "@1000");
	assert_string_equal(identity->names->text[LABEL_VM_ID], VM "@1000");
	assert_string_equal(identity->names->text[LABEL_VM_NAME], "web@1000");
	machine_start(8, SHELL, WORDS);
	identity = machine_at(8, COMM, 1);
	assert_string_equal(identity->names->text[LABEL_CONTAINER_ID], VM);
	assert_string_equal(identity->names->text[LABEL_VM_NAME], "web");
	start_as(9, 1001, QEMU, WORDS);
	machine_check(9, 1, VM "@1001");
	machine_check(7, 1, VM "@1000");
	machine_check(8, 1, VM);
}

/* However long the words are. */
static void test_a_long_name_hides_no_user(void **state)
{
	char words[256] = "q|-name|";
	const struct identity *identity;

	memset(words + strlen(words), 'n', 200);
	words[220] = '|';
	start_as(7, 1000, QEMU, words);
	identity = machine_at(7, COMM, 1);
	assert_string_equal(identity->names->text[LABEL_VM_ID] +
				    strlen(identity->names->text[LABEL_VM_ID]) - 5,
			    "@1000");
	assert_string_equal(identity->names->text[LABEL_VM_NAME] +
				    strlen(identity->names->text[LABEL_VM_NAME]) - 5,
			    "@1000");
}

static void test_no_two_living_machines_have_one_name(void **state)
{
	machine_start(7, SHELL, "q|-name|payments|-uuid|" VM "|");
	machine_start(8, SHELL, "q|-name|payments|-uuid|" VM2 "|");
	assert_string_equal(machine_at(7, COMM, 1)->names->text[LABEL_VM_NAME], "payments");
	assert_string_equal(machine_at(8, COMM, 1)->names->text[LABEL_VM_NAME], "payments-8");
	machine_start(9, "0::/machine.slice/machine-qemu\\x2d1\\x2dpayments.scope\n", "q|-m|1G|");
	assert_string_equal(machine_at(9, COMM, 2)->names->text[LABEL_VM_NAME],
			    "payments"); /* a manager says so */
	assert_string_equal(machine_at(7, COMM, 1)->names->text[LABEL_VM_NAME], "payments-7");
}

static void test_a_reused_pid_has_no_family(void **state)
{
	machine_start(6, SHELL, WORDS); /* the launcher */
	machine_start(7, SHELL, WORDS);
	rig_ppid(7, 6, COMM, 5);
	machine_check(6, 1, VM);
	machine_check(7, 1, VM);
	rig_forget(6);
	machine_check(7, 1, VM);
	const struct process_ref stranger = { 6, 9 * S, 1, COMM, false };

	rig_process(6, COMM, 9, SHELL);
	rig_cmdline(6, WORDS);
	assert_string_equal(machine_resolve(&stranger)->names->text[LABEL_CONTAINER_ID], VM "-6");
	machine_check(7, 1, VM);
}

/* A child whose parent was gone when it was asked. */
static void test_a_dead_parent_has_no_family(void **state)
{
	machine_start(7, SHELL, WORDS);
	rig_ppid(7, 6, COMM, 5);
	machine_check(7, 1, VM);
	machine_start(6, SHELL, WORDS);
	machine_check(6, 1, VM "-6");
}

static void test_impostors_push_no_other_out(void **state)
{
	for (uint32_t pid = 20; pid < 120; pid++) {
		char words[64];

		(void)snprintf(words, sizeof(words), "q|-name|m%u|", pid);
		start_as(pid, 1000, QEMU, words);
		(void)machine_at(pid, COMM, 1);
		assert_int_equal(overflows(), pid < 84 ? 0 : pid - 83); /* 64 have room */
	}
	assert_string_equal(machine_at(100, COMM, 1)->names->text[LABEL_CONTAINER_ID],
			    "session-1.scope");
	start_as(7, 1001, QEMU, WORDS);
	machine_check(7, 1, VM "@1001");
	machine_start(8, SHELL, WORDS);
	machine_check(8, 1, VM);
	for (uint32_t pid = 20; pid < 60; pid++)
		rig_forget(pid);
	identity_resolver_begin(resolver, T0 + 20 * S);
	assert_string_equal(machine_at(100, COMM, 1)->names->text[LABEL_CONTAINER_ID],
			    "qemu/m100@1000"); /* there is room */
}

static void test_users_of_managers_are_trusted(void **state)
{
	struct identity_options options = { .cgroupfs = "/nonexistent",
					    .patience_ns = 60 * S,
					    .cgroup_patience_ns = 60 * S };
	char path[128];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/passwd", rig_procfs());
	file = fopen(path, "w");
	assert_non_null(file);
	(void)fputs("root:x:0:0::/root:/bin/sh\nqemu:x:107:107::/:/sbin/nologin\n"
		    "kvmuser:x:1000:1000::/home:/bin/sh\n",
		    file);
	(void)fclose(file);
	identity_resolver_close(resolver);
	options.procfs = rig_procfs();
	options.passwd = path;
	assert_int_equal(identity_resolver_open(&options, &resolver), 0);
	identity_resolver_begin(resolver, T0);
	start_as(7, 107, NULL, WORDS);
	machine_check(7, 1, VM);
	start_as(8, 1000, NULL, WORDS);
	machine_check(8, 1, "session-1.scope");
	(void)unlink(path);
}

/* ---- what hangs ---- */

static uint32_t outstanding(void)
{
	struct identity_info info;

	identity_resolver_get_info(resolver, &info);
	return info.reads_outstanding;
}

static uint64_t late(void)
{
	struct identity_info info;

	identity_resolver_get_info(resolver, &info);
	return info.reads_late;
}

/* Its cmdline is a pipe: a read waits until a writer has closed it. */
static int hang(uint32_t pid)
{
	char path[128];
	int fd;

	rig_process(pid, COMM, 5, SHELL);
	(void)snprintf(path, sizeof(path), "%s/%u/cmdline", rig_procfs(), pid);
	(void)unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static void answer(int fd, const char *words)
{
	char text[256];
	size_t len = strlen(words);

	for (size_t i = 0; i < len; i++)
		text[i] = words[i] == '|' ? '\0' : words[i];
	assert_int_equal(write(fd, text, len), (ssize_t)len);
	assert_int_equal(close(fd), 0);
}

static int impatient_setup(void **state)
{
	return machine_setup_with(state, NSEC_PER_MSEC);
}

/* Until @count reads are left, as many intervals as it takes at one moment of their clock. */
static void wait_until_outstanding(uint32_t count, uint64_t now_ns)
{
	while (outstanding() > count) {
		(void)poll(NULL, 0, 1);
		identity_resolver_begin(resolver, now_ns);
	}
	assert_int_equal(outstanding(), count);
}

static void test_what_hangs_is_its_cgroups_until_it_answers(void **state)
{
	int fd;

	fd = hang(7);
	machine_check(7, 1, "session-1.scope");
	assert_int_equal(outstanding(), 1);
	assert_int_equal(late(), 0);
	for (uint64_t n = 1; n <= 3; n++) { /* one read a process, however often it is met */
		identity_resolver_begin(resolver, T0 + n * S);
		machine_check(7, 1, "session-1.scope");
		assert_int_equal(outstanding(), 1);
		assert_int_equal(late(), n > 1);
	}
	answer(fd, WORDS);
	wait_until_outstanding(0, T0 + 4 * S);
	machine_check(7, 1, VM);
	assert_int_equal(late(), 1);
}

/* A user has no more than some threads, users together no more than half of them. */
static void test_who_hangs_takes_no_threads_from_others(void **state)
{
	int fds[40];

	for (uint32_t i = 0; i < 40; i++) {
		fds[i] = hang(100 + i);
		rig_uid(100 + i, i < 20 ? 1000 : 1001 + i);
		rig_exe(100 + i, "/usr/bin/qemu-system-x86_64");
		machine_check(100 + i, 1, "session-1.scope");
		assert_int_equal(outstanding(), i < 4 ? i + 1 : i < 20 ? 4 : i < 24 ? i - 15 : 8);
	}
	machine_start(7, SHELL, WORDS); /* root's */
	(void)machine_at(7, COMM, 1);
	wait_until_outstanding(8, T0);
	machine_check(7, 1, VM);
	for (uint32_t i = 0; i < 40; i++)
		answer(fds[i], WORDS);
	wait_until_outstanding(0, T0);
}

/* The end of the program waits for none of them. */
static void test_the_end_leaves_what_hangs(void **state)
{
	int fd;

	fd = hang(7);
	machine_check(7, 1, "session-1.scope");
	identity_resolver_close(resolver);
	resolver = NULL;
	answer(fd, WORDS);
}

/* An answer is of the process that was asked, not of the one that has its pid now. */
static void test_a_late_answer_is_no_others(void **state)
{
	const struct process_ref other = { 7, 9 * S, 1, COMM, false };
	int fd;

	fd = hang(7);
	machine_check(7, 1, "session-1.scope");
	rig_forget(7);
	rig_process(7, COMM, 9, SHELL);
	rig_cmdline(7, "qemu-system-x86_64|-name|other|");
	assert_string_equal(machine_resolve(&other)->names->text[LABEL_CONTAINER_ID],
			    "session-1.scope");
	assert_int_equal(outstanding(), 1); /* still the first */
	answer(fd, WORDS);
	wait_until_outstanding(0, T0);
	(void)machine_resolve(&other);
	wait_until_outstanding(0, T0);
	assert_string_equal(machine_resolve(&other)->names->text[LABEL_CONTAINER_ID], "qemu/other");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define MACHINE_TEST(f) cmocka_unit_test_setup_teardown(f, machine_setup, machine_teardown)
		MACHINE_TEST(test_a_name_alone_makes_no_machine),
		MACHINE_TEST(test_a_users_machine_is_no_others),
		MACHINE_TEST(test_a_long_name_hides_no_user),
		MACHINE_TEST(test_no_two_living_machines_have_one_name),
		MACHINE_TEST(test_a_reused_pid_has_no_family),
		MACHINE_TEST(test_a_dead_parent_has_no_family),
		MACHINE_TEST(test_impostors_push_no_other_out),
		MACHINE_TEST(test_users_of_managers_are_trusted),
#define HANGING_TEST(f) cmocka_unit_test_setup_teardown(f, impatient_setup, machine_teardown)
		HANGING_TEST(test_what_hangs_is_its_cgroups_until_it_answers),
		HANGING_TEST(test_who_hangs_takes_no_threads_from_others),
		HANGING_TEST(test_the_end_leaves_what_hangs),
		HANGING_TEST(test_a_late_answer_is_no_others),
	};

	return unit_run(tests);
}
