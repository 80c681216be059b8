// SPDX-License-Identifier: Apache-2.0
#include "unused/unused.h"

#include "tests/rig/test_owner.h"
#include "tests/unit/unit.h"

#define SECOND_NS 1000000000ULL
#define MINUTE_NS (60 * SECOND_NS)

struct machine {
	struct books books;
	struct unused *unused;
	uint64_t now_ns;
	struct unused_finding found[UNUSED_MAX];
	size_t count;
	uint32_t left_out;
};

static void set_up(struct machine *machine)
{
	static const struct ledger_options options = { .max_processes = 600,
						       .max_containers = 600 };

	*machine = (struct machine){ .now_ns = 1000 * SECOND_NS };
	assert_int_equal(ledger_new(&options, &machine->books.ledger), 0);
	assert_int_equal(unused_new(&machine->unused), 0);
}

static void tear_down(struct machine *machine)
{
	device_parties_release(&machine->books.devices);
	ledger_free(machine->books.ledger);
	unused_free(machine->unused);
}

/* An interval of a minute in which the container has used that time. Returns its row. */
static uint32_t run(struct machine *machine, const char *id, uint32_t millicpu, uint64_t cpu_ns)
{
	const struct test_owner owner = {
		.names.text = { [LABEL_CONTAINER_ID] = id,
				[LABEL_CONTAINER_NAME] = id,
				[LABEL_NAMESPACE] = "shop",
				[LABEL_POD_NAME] = "checkout-7d9f",
				[LABEL_POD_ID] = "0b5c" },
		.size_millicpu = millicpu,
	};
	uint32_t container = enter_owner(machine->books.ledger, &owner);
	uint32_t process = ledger_process(machine->books.ledger, 7, 1, "worker", container);

	ledger_charge(machine->books.ledger, process, COLUMN_CPU, cpu_ns);
	return container;
}

static void begin(struct machine *machine)
{
	machine->now_ns += MINUTE_NS;
	ledger_begin(machine->books.ledger, machine->now_ns);
	device_parties_begin(&machine->books.devices);
}

static void look(struct machine *machine, uint64_t least_ns)
{
	unused_note(machine->unused, &machine->books, machine->now_ns);
	machine->count = unused_read(machine->unused, machine->now_ns, least_ns, machine->found,
				     UNUSED_MAX, &machine->left_out);
}

static void a_reservation_without_work_is_found(void **state)
{
	struct machine machine;

	set_up(&machine);
	for (unsigned minute = 0; minute <= 10; minute++) {
		begin(&machine);
		(void)run(&machine, "web", 2000, SECOND_NS); /* of 120 s: less than 1 % */
		look(&machine, 10 * MINUTE_NS);
		assert_int_equal(machine.count, minute == 10);
	}
	assert_int_equal(machine.found[0].kind, UNUSED_CPU);
	assert_int_equal(machine.found[0].size_millicpu, 2000);
	assert_int_equal(machine.now_ns - machine.found[0].since_ns, 10 * MINUTE_NS);
	assert_string_equal(machine.found[0].owner, "web in shop/checkout-7d9f");
	begin(&machine);
	(void)run(&machine, "web", 2000, 2 * SECOND_NS);
	look(&machine, MINUTE_NS);
	assert_int_equal(machine.count, 0); /* it has worked */
	tear_down(&machine);
}

static void without_a_known_size_nothing_is_found(void **state)
{
	struct machine machine;

	set_up(&machine);
	for (unsigned minute = 0; minute < 20; minute++) {
		begin(&machine);
		(void)run(&machine, "web", 0, 0);
		look(&machine, MINUTE_NS);
		assert_int_equal(machine.count, 0);
	}
	tear_down(&machine);
}

static void a_gpu_is_found_that_is_held_without_use(void **state)
{
	struct machine machine;

	set_up(&machine);
	for (unsigned minute = 0; minute <= 12; minute++) {
		uint32_t container;

		begin(&machine);
		container = run(&machine, "train", 0, SECOND_NS);
		/* Another of its processes is busy in the third minute. */
		assert_int_equal(device_parties_add(&machine.books.devices, 3, LEDGER_NONE,
						    container, 0, DEVICE_WHOLE),
				 0);
		if (minute == 2)
			assert_int_equal(device_parties_add(&machine.books.devices, 3, LEDGER_NONE,
							    container, SECOND_NS, 0),
					 0);
		look(&machine, 10 * MINUTE_NS);
		assert_int_equal(machine.count, minute == 12);
	}
	assert_int_equal(machine.found[0].kind, UNUSED_GPU);
	assert_int_equal(machine.found[0].device, 3);
	/* It is given back. */
	for (unsigned minute = 0; minute < 3; minute++) {
		begin(&machine);
		look(&machine, MINUTE_NS);
	}
	assert_int_equal(machine.count, 0);
	tear_down(&machine);
}

/* As of a driver that reports that the device is busy, and by no process. */
static void a_gpu_with_unknown_users_is_not_called_unused(void **state)
{
	struct machine machine;

	set_up(&machine);
	for (unsigned minute = 0; minute <= 12; minute++) {
		uint32_t container;

		begin(&machine);
		container = run(&machine, "train", 0, SECOND_NS);
		assert_int_equal(device_parties_add(&machine.books.devices, 3, LEDGER_NONE,
						    container, 0, DEVICE_WHOLE),
				 0);
		device_parties_add_unseen(&machine.books.devices, 3, SECOND_NS);
		look(&machine, 10 * MINUTE_NS);
		assert_int_equal(machine.count, 0);
	}
	tear_down(&machine);
}

static void users_that_hold_nothing_are_not_found(void **state)
{
	struct machine machine;

	set_up(&machine);
	begin(&machine);
	assert_int_equal(device_parties_add(&machine.books.devices, 3, LEDGER_NONE,
					    run(&machine, "train", 0, 0), SECOND_NS, 0),
			 0);
	look(&machine, 0);
	assert_int_equal(machine.count, 0);
	tear_down(&machine);
}

static void what_finds_no_room_is_counted(void **state)
{
	struct machine machine;
	char id[16];

	set_up(&machine);
	begin(&machine);
	for (unsigned i = 0; i < UNUSED_MAX + 5; i++) {
		const struct test_owner owner = {
			.names.text = { [LABEL_CONTAINER_ID] = id, [LABEL_CONTAINER_NAME] = id },
			.size_millicpu = 100,
		};

		(void)snprintf(id, sizeof(id), "c%u", i);
		(void)ledger_process(machine.books.ledger, i + 1, 1, "sh",
				     enter_owner(machine.books.ledger, &owner));
	}
	look(&machine, 0);
	assert_int_equal(machine.count, UNUSED_MAX);
	assert_int_equal(machine.left_out, 5);
	tear_down(&machine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reservation_without_work_is_found),
		cmocka_unit_test(without_a_known_size_nothing_is_found),
		cmocka_unit_test(a_gpu_is_found_that_is_held_without_use),
		cmocka_unit_test(a_gpu_with_unknown_users_is_not_called_unused),
		cmocka_unit_test(users_that_hold_nothing_are_not_found),
		cmocka_unit_test(what_finds_no_room_is_counted),
	};

	return unit_run(tests);
}
