// SPDX-License-Identifier: Apache-2.0
#include "workload/owner_by_process.h"

#include "base/num.h"
#include "tests/unit/unit.h"

#define S  NSEC_PER_SEC
#define T0 (1000 * S)

static struct owner_table owners;
static struct process_owners processes;

static int setup(void **state)
{
	owner_table_init(&owners);
	process_owners_init(&processes, &owners);
	return 0;
}

static int teardown(void **state)
{
	process_owners_release(&processes);
	assert_int_equal(owners.count, 0);
	owner_table_release(&owners);
	return 0;
}

static void put(const struct process_ref *process, uint64_t now_ns)
{
	struct cgroup_owner what;
	struct owner *owner;

	cgroup_owner_system(&what);
	owner = owner_table_get(&owners, &what, now_ns);
	process_owners_put(&processes, process, owner, now_ns);
	owner_unref(&owners, owner);
}

static bool is_trusted(const struct process_ref *process, uint64_t now_ns)
{
	bool trusted = true;
	const struct owner *owner = process_owners_find(&processes, process, now_ns, &trusted);

	assert_true(owner || !trusted);
	return trusted;
}

static bool is_known(const struct process_ref *process, uint64_t now_ns)
{
	bool trusted;

	return process_owners_find(&processes, process, now_ns, &trusted);
}

/* If the kernel reports each move, an answer holds longer. */
static void test_trust_depends_on_whether_moves_are_seen(void **state)
{
	const struct process_ref told = { 7, 5 * S, 1, "x", .cgroup_set = 9 };
	const struct process_ref untold = { 8, 5 * S, 1, "x" };

	put(&told, T0);
	put(&untold, T0);
	assert_false(
		is_trusted(&told, T0 + PROCESS_OWNERS_TRUST_NS)); /* one reading may be a chance */
	assert_true(is_trusted(&untold, T0 + PROCESS_OWNERS_TRUST_NS - 1));
	put(&told, T0);
	put(&untold, T0);
	assert_true(is_trusted(&told, T0 + PROCESS_OWNERS_TRUST_NS));
	assert_false(is_trusted(&untold, T0 + PROCESS_OWNERS_TRUST_NS));
	assert_true(is_known(&untold, T0 + PROCESS_OWNERS_TRUST_NS)); /* until it is read again */
	assert_true(is_trusted(&told, T0 + PROCESS_OWNERS_TRUST_SET_NS - 1));
	assert_false(is_trusted(&told, T0 + PROCESS_OWNERS_TRUST_SET_NS));
	put(&told, T0 + PROCESS_OWNERS_TRUST_SET_NS);
	assert_true(is_trusted(&told, T0 + PROCESS_OWNERS_TRUST_SET_NS + 1));
}

/* It may have been elsewhere, and back, between the kernel's word of its set and the reading. */
static void test_two_readings_must_say_the_same(void **state)
{
	const struct process_ref process = { 7, 5 * S, 1, "x", .cgroup_set = 9 };
	struct cgroup_owner what;
	struct owner *elsewhere;

	cgroup_owner_kernel(&what);
	elsewhere = owner_table_get(&owners, &what, T0);
	process_owners_put(&processes, &process, elsewhere, T0);
	owner_unref(&owners, elsewhere);
	put(&process, T0);
	assert_false(is_trusted(&process, T0 + PROCESS_OWNERS_TRUST_NS));
	put(&process, T0);
	assert_true(is_trusted(&process, T0 + PROCESS_OWNERS_TRUST_NS));
}

static void test_a_move_is_seen_at_once(void **state)
{
	const struct process_ref process = { 7, 5 * S, 1, "x", .cgroup_set = 9 };
	struct process_ref moved = process, executed = process, reborn = process;

	put(&process, T0);
	moved.cgroup_set = 10;
	assert_false(is_known(&moved, T0));
	moved = process;
	moved.cgroup_id = 2;
	assert_false(is_known(&moved, T0));
	executed.comm = "y";
	assert_true(is_known(&executed, T0));
	assert_false(is_trusted(&executed, T0));
	reborn.start_ns++;
	assert_false(is_known(&reborn, T0));
	assert_true(is_trusted(&process, T0));
}

/* Entries asked for stay, however long ago they were read; others go, trusted or not. */
static void test_what_is_not_asked_for_goes(void **state)
{
	const struct process_ref used = { 7, 5 * S, 1, "x", .cgroup_set = 9 };
	struct process_ref other = { 100, 5 * S, 1, "x", .cgroup_set = 9 };
	uint64_t now_ns = T0;

	put(&used, now_ns);
	for (uint32_t round = 0; round < 40; round++, now_ns += 10 * S) {
		assert_true(is_known(&used, now_ns));
		for (uint32_t i = 0; i < 300; i++, other.pid++)
			put(&other, now_ns);
		assert_true(processes.count < 6000);
	}
	other.pid = 100;
	assert_false(is_known(&other, now_ns));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define OWNERS_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		OWNERS_TEST(test_trust_depends_on_whether_moves_are_seen),
		OWNERS_TEST(test_two_readings_must_say_the_same),
		OWNERS_TEST(test_a_move_is_seen_at_once),
		OWNERS_TEST(test_what_is_not_asked_for_goes),
	};

	return unit_run(tests);
}
