// SPDX-License-Identifier: Apache-2.0
/* Virtual machines, by their processes, through identity_resolve(). */
#include "workload/vm_owners.h"

#include "base/num.h"
#include "machine_rig.h"
#include "proc_rig.h"
#include "tests/unit/unit.h"

static void test_a_plain_machine(void **state)
{
	const struct identity *identity;

	machine_start(7, SHELL, WORDS);
	rig_process(8, "bash", 5, SHELL);
	identity = machine_at(7, COMM, 1);
	assert_int_equal(identity->kind, OWNER_VM);
	assert_string_equal(identity->names->text[LABEL_CONTAINER_ID], VM);
	assert_string_equal(identity->names->text[LABEL_VM_ID], VM);
	assert_string_equal(identity->names->text[LABEL_VM_NAME], "web");
	assert_string_equal(identity->names->text[LABEL_CONTAINER_NAME], "web");
	assert_string_equal(identity->names->text[LABEL_NAMESPACE], "system");
	assert_string_equal(identity->names->text[LABEL_HYPERVISOR], "kvm");
	rig_forget(7); /* known now: the end is charged as the life was */
	machine_check(7, 1, VM);
	assert_string_equal(machine_at(8, "bash", 1)->names->text[LABEL_CONTAINER_ID],
			    "session-1.scope");
}

static void test_gone_before_it_could_be_asked(void **state)
{
	rig_process(7, "bash", 5, SHELL);
	(void)machine_at(7, "bash", 1);
	machine_check(8, 1, "session-1.scope");
	rig_process(9, COMM, 5, SHELL); /* no cmdline: a zombie */
	rig_cmdline(9, "");
	machine_check(9, 1, "session-1.scope");
	rig_process(9, COMM, 6, SHELL); /* another process of that pid */
	rig_cmdline(9, WORDS);
	machine_check(9, 1, "session-1.scope");
}

static void test_all_of_a_scope_is_the_machine(void **state)
{
	const struct identity *identity;

	rig_process(6, "swtpm", 5, SCOPE);
	assert_string_equal(machine_at(6, "swtpm", 1)->names->text[LABEL_CONTAINER_ID], "qemu/web");
	machine_start(7, SCOPE, WORDS);
	machine_check(7, 1, VM);
	identity = machine_at(6, "swtpm", 1);
	assert_string_equal(identity->names->text[LABEL_CONTAINER_ID], VM);
	assert_string_equal(identity->names->text[LABEL_HYPERVISOR], "kvm");
	assert_string_equal(machine_at(0, "", 1)->names->text[LABEL_CONTAINER_ID], VM);
	machine_start(17, "0::/qemu.slice/101.scope\n", "kvm|-id|101|"); /* neither uuid nor name */
	machine_check(17, 2, "qemu/101");
	assert_string_equal(machine_at(17, COMM, 2)->names->text[LABEL_VM_NAME], "101");
}

static void test_no_two_living_machines_have_one_id(void **state)
{
	machine_start(7, SHELL, WORDS);
	machine_start(8, SHELL, WORDS);
	machine_check(7, 1, VM);
	machine_check(8, 1, VM "-8");
	machine_check(7, 1, VM);
	rig_forget(7);
	machine_start(9, SHELL, WORDS); /* started again */
	machine_check(9, 1, VM);
	machine_check(8, 1, VM "-8");
}

static void test_a_managed_machine_takes_its_id_from_a_stranger(void **state)
{
	machine_start(7, SHELL, WORDS);
	machine_check(7, 1, VM);
	machine_start(8, SCOPE, WORDS);
	machine_check(8, 2, VM);
	machine_check(7, 1, VM "-7");
	machine_check(8, 2, VM);
}

/* The one that a manager started, whatever a user's process says of itself; else the newest. */
static void test_the_process_of_a_uuid(void **state)
{
	struct uuid uuid, other;

	assert_true(uuid_parse(VM, strlen(VM), &uuid));
	other = (struct uuid){ uuid.high, uuid.low + 1 };
	assert_int_equal(identity_machine_pid(resolver, &uuid), 0);
	machine_start(8, SCOPE, WORDS);
	machine_check(8, 2, VM);
	assert_int_equal(identity_machine_pid(resolver, &uuid), 8);
	machine_start(7, SHELL, WORDS);
	machine_check(7, 1, VM "-7");
	assert_int_equal(identity_machine_pid(resolver, &uuid), 8);
	assert_int_equal(identity_machine_pid(resolver, &other), 0);
}

static void test_parent_and_child_are_one_machine(void **state)
{
	machine_start(7, SHELL, WORDS);
	machine_start(8, SHELL, WORDS);
	rig_ppid(8, 7, COMM, 5); /* -daemonize */
	machine_check(7, 1, VM);
	machine_check(8, 1, VM);
}

static void test_machines_without_uuid(void **state)
{
	machine_start(7, SHELL, "q|-name|web|");
	machine_start(8, SHELL, "q|-name|web|");
	machine_start(9, SHELL, "q|-m|1G|");
	machine_check(7, 1, "qemu/web");
	machine_check(8, 1, "qemu/web-8");
	machine_check(9, 1, "qemu/9-5");
	assert_string_equal(machine_at(9, COMM, 1)->names->text[LABEL_VM_NAME], "qemu-9");
}

/* By the process, unless the machine has a UUID; processes of one machine have one bearer. */
static void test_the_next_bearer_of_a_name(void **state)
{
	static const char words[] = "q|-name|web|";
	const struct process_ref next = { 9, 70 * S, 1, COMM, false };
	uint64_t first;

	(void)state;
	machine_start(7, SHELL, words);
	first = machine_at(7, COMM, 1)->bearer_ns;
	assert_true(first > 0);
	machine_start(8, SHELL, words);
	rig_ppid(8, 7, COMM, 5); /* -daemonize */
	machine_check(8, 1, "qemu/web");
	assert_true(machine_at(8, COMM, 1)->bearer_ns == first);
	rig_forget(7);
	rig_forget(8);
	rig_process(9, COMM, 70, SHELL);
	rig_cmdline(9, words);
	assert_string_equal(machine_resolve(&next)->names->text[LABEL_VM_ID], "qemu/web");
	assert_true(machine_resolve(&next)->bearer_ns == next.start_ns);
	machine_start(10, SHELL, WORDS);
	machine_check(10, 1, VM);
	assert_true(machine_at(10, COMM, 1)->bearer_ns == 0);
}

static void test_what_is_no_machine_stays_where_it_is(void **state)
{
	machine_start(7, SHELL, "qemu-system-x86_64|--version|");
	machine_check(7, 1, "session-1.scope");
	rig_cmdline(7, WORDS); /* is not read again */
	machine_check(7, 1, "session-1.scope");
}

static void test_exec_is_another_program(void **state)
{
	machine_start(7, SHELL, "kvm|--version|");
	assert_string_equal(machine_at(7, "kvm", 1)->names->text[LABEL_CONTAINER_ID],
			    "session-1.scope");
	machine_start(7, SHELL, WORDS);
	machine_check(7, 1, VM);
	assert_string_equal(machine_at(7, "bash", 1)->names->text[LABEL_CONTAINER_ID],
			    "session-1.scope");
}

/* KubeVirt: a machine and a pod. */
static void test_a_machine_in_a_container(void **state)
{
	const struct identity *identity;
	const struct owner_names *names;

	rig_process(6, "virt-launcher", 5, "0::/kubepods/pod" UID "/" ID "\n");
	machine_start(7, "0::/kubepods/pod" UID "/" ID "\n", WORDS);
	machine_start(8, "0::/kubepods/pod" UID "/" ID "\n", "q|-uuid|" VM2 "|");
	identity = machine_at(6, "virt-launcher", 1);
	names = owner_names_ref(identity->names);
	assert_string_equal(identity->names->text[LABEL_VM_ID], "");
	identity = machine_at(7, COMM, 1);
	assert_int_equal(identity->kind, OWNER_CONTAINER);
	assert_string_equal(identity->names->text[LABEL_CONTAINER_ID], ID);
	assert_string_equal(identity->names->text[LABEL_POD_ID], UID);
	assert_string_equal(identity->names->text[LABEL_VM_ID], VM);
	assert_string_equal(identity->names->text[LABEL_VM_NAME], "web");
	assert_true(identity->names != names);
	owner_names_unref(names);
	assert_string_equal(machine_at(6, "virt-launcher", 1)->names->text[LABEL_VM_ID], VM);
	assert_string_equal(machine_at(8, COMM, 1)->names->text[LABEL_VM_ID],
			    VM); /* the first keeps it */
	rig_forget(7);
	machine_start(9, "0::/kubepods/pod" UID "/" ID "\n", "q|-uuid|" VM2 "|");
	rig_forget(8);
	assert_string_equal(machine_at(9, COMM, 1)->names->text[LABEL_VM_ID], VM2);
}

static void test_a_machine_that_moves(void **state)
{
	machine_start(7, SHELL, WORDS);
	machine_check(7, 1, VM);
	identity_resolver_begin(resolver, T0 + S);
	machine_start(7, "0::/docker/" ID "\n", WORDS);
	machine_check(7, 2, ID);
}

static void test_kernel_threads_of_a_machine(void **state)
{
	const struct process_ref vhost = { 50, 6 * S, 0, "vhost-7", true };
	const struct process_ref pit = { 51, 6 * S, 0, "kvm-pit/7", true };
	const struct process_ref other = { 52, 6 * S, 0, "vhost-8", true };
	const struct process_ref gone = { 53, 6 * S, 0, "vhost-99", true };

	machine_start(7, SHELL, WORDS);
	rig_process(8, "testpmd", 5, SHELL);
	/* No process waits for an unannounced machine. */
	assert_int_equal(identity_resolve(resolver, &vhost)->kind, OWNER_KERNEL);
	assert_int_equal(machine_resolve(&vhost)->kind,
			 OWNER_KERNEL); /* its cgroup is known, its words not */
	assert_string_equal(machine_resolve(&vhost)->names->text[LABEL_CONTAINER_ID], VM);
	machine_check(7, 1, VM);
	assert_string_equal(identity_resolve(resolver, &vhost)->names->text[LABEL_CONTAINER_ID],
			    VM);
	assert_string_equal(identity_resolve(resolver, &pit)->names->text[LABEL_CONTAINER_ID], VM);
	assert_int_equal(identity_resolve(resolver, &other)->kind, OWNER_KERNEL);
	assert_int_equal(identity_resolve(resolver, &other)->kind, OWNER_KERNEL);
	assert_int_equal(identity_resolve(resolver, &gone)->kind, OWNER_KERNEL);
}

static void test_many_machines_come_and_go(void **state)
{
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t pid = 10; pid < 160; pid++) {
			char words[64], id[32];

			(void)snprintf(words, sizeof(words), "q|-name|m%u-%u|", round, pid);
			(void)snprintf(id, sizeof(id), "qemu/m%u-%u", round, pid);
			rig_process(pid, COMM, 5 + round, SHELL);
			rig_cmdline(pid, words);
			const struct process_ref process = { pid, (5 + round) * S, 1, COMM, false };

			assert_string_equal(
				machine_resolve(&process)->names->text[LABEL_CONTAINER_ID], id);
			if (pid % 2)
				rig_forget(pid);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define MACHINE_TEST(f) cmocka_unit_test_setup_teardown(f, machine_setup, machine_teardown)
		MACHINE_TEST(test_a_plain_machine),
		MACHINE_TEST(test_gone_before_it_could_be_asked),
		MACHINE_TEST(test_all_of_a_scope_is_the_machine),
		MACHINE_TEST(test_no_two_living_machines_have_one_id),
		MACHINE_TEST(test_a_managed_machine_takes_its_id_from_a_stranger),
		MACHINE_TEST(test_the_process_of_a_uuid),
		MACHINE_TEST(test_parent_and_child_are_one_machine),
		MACHINE_TEST(test_machines_without_uuid),
		MACHINE_TEST(test_the_next_bearer_of_a_name),
		MACHINE_TEST(test_what_is_no_machine_stays_where_it_is),
		MACHINE_TEST(test_exec_is_another_program),
		MACHINE_TEST(test_a_machine_in_a_container),
		MACHINE_TEST(test_a_machine_that_moves),
		MACHINE_TEST(test_kernel_threads_of_a_machine),
		MACHINE_TEST(test_many_machines_come_and_go),
	};

	return unit_run(tests);
}
