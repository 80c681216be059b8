// SPDX-License-Identifier: Apache-2.0
#include "export/guests/guest_table.h"

#include "tests/unit/unit.h"

#define UUID_A "8a4c1f0e-33b7-4d19-9e5f-7c2b6a1d0e48"
#define UUID_B "1b6a2c3d-0000-4111-8222-333344445555"
#define ROWS   4
#define USER   1000 /* of no manager of machines */

/* A snapshot with rows of machines, and of the processes that run them. */
struct stage {
	struct owner_names names[3 * ROWS];
	struct series_labels labels[3 * ROWS];
	struct snapshot_row rows[3 * ROWS];
	struct snapshot snapshot;
};

static void add(struct stage *stage, enum level level, const char *id, uint32_t pid)
{
	struct snapshot_table *table = &stage->snapshot.level[level];
	size_t first = level == LEVEL_VM ? 0 : level == LEVEL_PROCESS ? ROWS : 2 * ROWS;
	size_t i = table->count + first;

	assert_true(table->count < ROWS);
	table->rows = stage->rows + first;
	stage->names[i] = (struct owner_names){ .text[LABEL_VM_ID] = id };
	stage->labels[i] = (struct series_labels){ .slot = (uint32_t)table->count,
						   .serial = 100 + i,
						   .pid = pid,
						   .names = &stage->names[i] };
	stage->rows[i] = (struct snapshot_row){ .labels = &stage->labels[i] };
	table->count++;
}

static unsigned ends;

static void count_end(void *userdata, struct guest *guest)
{
	assert_null(userdata);
	assert_non_null(guest);
	ends++;
}

static void init(struct guest_table *table)
{
	ends = 0;
	guest_table_init(table, "/dev/null"); /* root alone is trusted */
}

static struct guest_process process_of(uint32_t pid, uid_t uid, const char *uuid)
{
	struct guest_process process = { .pid = pid, .uid = uid, .vsock_cid = pid + 7 };

	(void)snprintf(process.uuid, sizeof(process.uuid), "%s", uuid);
	return process;
}

static uint32_t pid_of(const struct guest_table *table, const char *id)
{
	const struct guest *guest = guest_table_find_id(table, id);

	assert_non_null(guest);
	return guest->process.pid;
}

static void a_machine_is_a_guest_while_it_has_a_row(void **state)
{
	struct stage stage = { 0 };
	struct guest_table table;
	uint64_t epoch;

	init(&table);
	add(&stage, LEVEL_VM, UUID_A, 0);
	add(&stage, LEVEL_VM, "", 0); /* those without a row of their own */
	add(&stage, LEVEL_VM, "firecracker/web", 0);
	assert_true(guest_table_update(&table, &stage.snapshot, count_end, NULL));
	assert_int_equal(table.count, 2);
	assert_string_equal(table.guests[0]->key, UUID_A);
	assert_string_equal(table.guests[1]->key, "firecracker-web");
	assert_int_equal(table.guests[1]->row, 2);
	epoch = table.guests[0]->epoch;
	assert_true(epoch && epoch != table.guests[1]->epoch);
	(void)guest_table_update(&table, &stage.snapshot, count_end, NULL);
	assert_int_equal(table.guests[0]->epoch, epoch);
	assert_int_equal(table.starts, 2);
	stage.snapshot.level[LEVEL_VM].count = 2;
	(void)guest_table_update(&table, &stage.snapshot, count_end, NULL);
	assert_int_equal(table.count, 1);
	assert_int_equal(ends, 1);
	guest_table_release(&table);
}

static void a_machine_that_starts_again_has_the_epoch_of_its_row(void **state)
{
	const struct guest_process processes[] = { process_of(7, 0, UUID_A),
						   process_of(8, 0, UUID_A) };
	struct stage stage = { 0 };
	struct guest_table table;
	uint64_t epoch;

	init(&table);
	add(&stage, LEVEL_VM, UUID_A, 0);
	(void)guest_table_update(&table, &stage.snapshot, count_end, NULL);
	guest_table_pair(&table, &stage.snapshot, processes, 1);
	assert_false(guest_table_update(&table, &stage.snapshot, count_end, NULL));
	epoch = table.guests[0]->epoch;
	stage.rows[0].ended = true;
	assert_false(guest_table_update(&table, &stage.snapshot, count_end, NULL));
	assert_int_equal(pid_of(&table, UUID_A), 0);
	stage.rows[0].ended = false;
	assert_true(guest_table_update(&table, &stage.snapshot, count_end, NULL));
	assert_int_equal(table.starts, 2);
	guest_table_pair(&table, &stage.snapshot, processes + 1, 1);
	assert_int_equal(pid_of(&table, UUID_A), 8);
	assert_int_equal(table.guests[0]->epoch, epoch);
	assert_int_equal(ends, 0);
	guest_table_release(&table);
}

static void a_machine_that_comes_back_has_another_epoch(void **state)
{
	struct stage stage = { 0 };
	struct guest_table table;
	uint64_t epoch;

	init(&table);
	add(&stage, LEVEL_VM, UUID_A, 0);
	(void)guest_table_update(&table, &stage.snapshot, count_end, NULL);
	epoch = table.guests[0]->epoch;
	stage.labels[0].serial++; /* retired and born again in one interval, in the same slot */
	(void)guest_table_update(&table, &stage.snapshot, count_end, NULL);
	assert_int_equal(table.count, 1);
	assert_int_not_equal(table.guests[0]->epoch, epoch);
	assert_int_equal(table.guests[0]->sequence, 0);
	assert_int_equal(ends, 1);
	guest_table_release(&table);
}

static void ids_that_cannot_be_file_names_have_no_key(void **state)
{
	static const char *const ids[] = { "../../etc", ".hidden", "qemu/a b", "" UUID_A UUID_A };
	struct stage stage = { 0 };
	struct guest_table table;

	init(&table);
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		add(&stage, LEVEL_VM, ids[i], 0);
	(void)guest_table_update(&table, &stage.snapshot, count_end, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		assert_string_equal(table.guests[i]->key, "");
	guest_table_release(&table);
}

static void a_key_belongs_to_one_guest(void **state)
{
	struct stage stage = { 0 };
	struct guest_table table;

	init(&table);
	add(&stage, LEVEL_VM, "qemu/web", 0);
	add(&stage, LEVEL_VM, "qemu-web", 0);
	(void)guest_table_update(&table, &stage.snapshot, count_end, NULL);
	assert_string_equal(table.guests[0]->key, "qemu-web");
	assert_string_equal(table.guests[1]->key, "");
	guest_table_release(&table);
}

static void a_user_cannot_claim_the_machine_of_root(void **state)
{
	const struct guest_process processes[] = { process_of(7, USER, UUID_A),
						   process_of(8, 0, UUID_B) };
	struct stage stage = { 0 };
	struct guest_table table;

	init(&table);
	add(&stage, LEVEL_VM, UUID_A, 0);
	add(&stage, LEVEL_VM, UUID_B, 0);
	(void)guest_table_update(&table, &stage.snapshot, count_end, NULL);
	guest_table_pair(&table, &stage.snapshot, processes, 2);
	assert_int_equal(pid_of(&table, UUID_A), 0);
	assert_int_equal(pid_of(&table, UUID_B), 8);
	assert_ptr_equal(guest_table_find_cid(&table, 15), guest_table_find_id(&table, UUID_B));
	assert_null(guest_table_find_cid(&table, 14));
	assert_null(guest_table_find_cid(&table, 0));
	assert_false(guest_table_update(&table, &stage.snapshot, count_end, NULL) &&
		     pid_of(&table, UUID_A) != 0);
	guest_table_release(&table);
}

static void suffixes_decide_between_claims(void **state)
{
	const struct guest_process processes[] = { process_of(7, USER, UUID_A),
						   process_of(9, 0, UUID_A),
						   process_of(8, 0, UUID_A) };
	struct stage stage = { 0 };
	struct guest_table table;

	init(&table);
	add(&stage, LEVEL_VM, UUID_A, 0);
	add(&stage, LEVEL_VM, UUID_A "@1000", 0);
	(void)guest_table_update(&table, &stage.snapshot, count_end, NULL);
	guest_table_pair(&table, &stage.snapshot, processes, 3);
	assert_int_equal(pid_of(&table, UUID_A "@1000"), 7);
	assert_int_equal(pid_of(&table, UUID_A), 0); /* two processes of root claim it */
	add(&stage, LEVEL_VM, UUID_A "-9", 0);
	(void)guest_table_update(&table, &stage.snapshot, count_end, NULL);
	guest_table_pair(&table, &stage.snapshot, processes, 3);
	assert_int_equal(pid_of(&table, UUID_A), 8);
	assert_int_equal(pid_of(&table, UUID_A "-9"), 9);
	guest_table_release(&table);
}

static void the_row_of_the_process_is_decisive(void **state)
{
	const struct guest_process processes[] = { process_of(7, USER, UUID_A),
						   process_of(8, 0, UUID_B),
						   process_of(9, 0, UUID_B) };
	struct stage stage = { 0 };
	struct guest_table table;

	init(&table);
	add(&stage, LEVEL_VM, UUID_A, 0);
	add(&stage, LEVEL_VM, UUID_B, 0);
	add(&stage, LEVEL_PROCESS, UUID_A, 7); /* a machine in a container */
	add(&stage, LEVEL_PROCESS, NULL, 8);   /* no machine */
	(void)guest_table_update(&table, &stage.snapshot, count_end, NULL);
	guest_table_pair(&table, &stage.snapshot, processes, 3);
	assert_int_equal(pid_of(&table, UUID_A), 7);
	assert_int_equal(pid_of(&table, UUID_B), 9);
	guest_table_release(&table);
}

/* As a command line may still show an address whose device was removed. */
static void an_address_of_two_is_of_none(void **state)
{
	struct guest_process processes[] = { process_of(7, 0, UUID_A), process_of(8, 0, UUID_B) };
	struct stage stage = { 0 };
	struct guest_table table;

	init(&table);
	add(&stage, LEVEL_VM, UUID_A, 0);
	add(&stage, LEVEL_VM, UUID_B, 0);
	(void)guest_table_update(&table, &stage.snapshot, count_end, NULL);
	processes[1].vsock_cid = processes[0].vsock_cid;
	guest_table_pair(&table, &stage.snapshot, processes, 2);
	assert_null(guest_table_find_cid(&table, processes[0].vsock_cid));
	processes[0].vsock_cid = 0; /* libvirt knows that it is gone */
	guest_table_pair(&table, &stage.snapshot, processes, 2);
	assert_ptr_equal(guest_table_find_cid(&table, processes[1].vsock_cid),
			 guest_table_find_id(&table, UUID_B));
	guest_table_release(&table);
}

/* Any process can name itself like a hypervisor, with any address on its command line. */
static void a_user_cannot_take_an_address_from_another_machine(void **state)
{
	static const char own[] = UUID_A "@1000";
	struct guest_process processes[] = { process_of(7, USER, UUID_A),
					     process_of(8, 0, UUID_B) };
	struct stage stage = { 0 };
	struct guest_table table;

	init(&table);
	add(&stage, LEVEL_VM, own, 0);
	add(&stage, LEVEL_VM, UUID_B, 0);
	(void)guest_table_update(&table, &stage.snapshot, count_end, NULL);
	processes[0].vsock_cid = processes[1].vsock_cid = 3;
	guest_table_pair(&table, &stage.snapshot, processes, 2);
	assert_int_equal(pid_of(&table, own), 7);
	assert_ptr_equal(guest_table_find_cid(&table, 3), guest_table_find_id(&table, UUID_B));
	processes[1].vsock_cid = 0; /* the machine's own address is not known */
	guest_table_pair(&table, &stage.snapshot, processes, 2);
	assert_null(guest_table_find_cid(&table, 3));
	processes[0].is_known_to_libvirt = true; /* of a session of this user */
	guest_table_pair(&table, &stage.snapshot, processes, 2);
	assert_ptr_equal(guest_table_find_cid(&table, 3), guest_table_find_id(&table, own));
	guest_table_release(&table);
}

/* KubeVirt's machines, whose processes may have no rows of their own. */
static void the_row_of_the_container_has_the_machine(void **state)
{
	struct guest_process processes[] = { process_of(7, USER, UUID_A), process_of(8, 0, UUID_B),
					     process_of(9, USER, UUID_A) };
	struct stage stage = { 0 };
	struct guest_table table;

	init(&table);
	add(&stage, LEVEL_VM, UUID_A, 0);
	add(&stage, LEVEL_VM, UUID_B, 0);
	add(&stage, LEVEL_CONTAINER, UUID_A, 0);
	stage.names[2 * ROWS].text[LABEL_CONTAINER_ID] = "c0ffee";
	(void)snprintf(processes[0].container, sizeof(processes[0].container), "c0ffee");
	(void)snprintf(processes[1].container, sizeof(processes[1].container), "0ddba11");
	(void)guest_table_update(&table, &stage.snapshot, count_end, NULL);
	guest_table_pair(&table, &stage.snapshot, processes, 3);
	assert_int_equal(pid_of(&table, UUID_A), 7);
	assert_int_equal(pid_of(&table, UUID_B), 0); /* a container that claims it by its UUID */
	(void)snprintf(processes[2].container, sizeof(processes[2].container), "c0ffee");
	guest_table_pair(&table, &stage.snapshot, processes, 3);
	assert_int_equal(pid_of(&table, UUID_A), 0); /* two hypervisors in one container */
	guest_table_release(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_is_a_guest_while_it_has_a_row),
		cmocka_unit_test(a_machine_that_starts_again_has_the_epoch_of_its_row),
		cmocka_unit_test(a_machine_that_comes_back_has_another_epoch),
		cmocka_unit_test(ids_that_cannot_be_file_names_have_no_key),
		cmocka_unit_test(a_key_belongs_to_one_guest),
		cmocka_unit_test(a_user_cannot_claim_the_machine_of_root),
		cmocka_unit_test(suffixes_decide_between_claims),
		cmocka_unit_test(the_row_of_the_process_is_decisive),
		cmocka_unit_test(an_address_of_two_is_of_none),
		cmocka_unit_test(a_user_cannot_take_an_address_from_another_machine),
		cmocka_unit_test(the_row_of_the_container_has_the_machine),
	};

	return unit_run(tests);
}
