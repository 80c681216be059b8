// SPDX-License-Identifier: Apache-2.0
/*
 * A package, a GPU, and the rest of the machine's power: users of the two share that, by the energy
 * that they were charged for them.
 */
#include "attribution/books.h"

#include "base/num.h"
#include "tests/rig/test_owner.h"
#include "tests/unit/unit.h"

enum { OTHER, PACKAGE, GPU, DRAM, ZONES }; /* it may be found before its parts are */
enum { ALICE, BOB, CAROL, OWNERS };

#define J UJ_PER_J

static const struct idle_options options = { .mode = IDLE_MODE_OFF };
static const struct share_options by_cpu_time = { .smt_ppm = 0 };

struct house {
	struct zone zones[ZONES];
	struct books books;
	bool is_quiet[ZONES]; /* no reading: what flows comes with the next */
	uint64_t read_ns[ZONES], energy_uj[ZONES], metered_uj[ZONES];
	uint64_t now_ns, busy_ns, dropped_ns;
	uint64_t dram_uj;       /* that it draws in a second */
	uint32_t owner[OWNERS]; /* containers */
};

static void set_up(struct house *house)
{
	const struct ledger_options ledger = {
		.max_processes = 64,
		.max_containers = 16,
	};

	*house = (struct house){
		.zones = { [OTHER] = { .kind = ZONE_OTHER,
				       .source = "remainder",
				       .domain = { DOMAIN_PARTS, 0 } },
			   [PACKAGE] = { .kind = ZONE_PACKAGE, .instance = "0", .source = "told" },
			   [GPU] = { .kind = ZONE_GPU,
				     .instance = "GPU-a",
				     .source = "gpus",
				     .domain = { DOMAIN_DEVICE, 0 } },
			   [DRAM] = { .kind = ZONE_DRAM, .instance = "0", .source = "told" } },
		.now_ns = NSEC_PER_SEC,
	};
	assert_int_equal(books_open(&house->books, &ledger), 0);
	books_configure(&house->books, &options, &by_cpu_time, 0);
	for (uint32_t z = 0; z < ZONES; z++) {
		house->books.status[z] = (struct zone_status){ .state = ZONE_UP };
		assert_int_equal(books_adopt(&house->books, &house->zones[z], 0), z);
		house->books.accountant.is_part[z] = z != OTHER;
	}
}

static void tear_down(struct house *house)
{
	books_release(&house->books);
}

static void begin(struct house *house)
{
	static const char *const ids[] = { "alice", "bob", "carol" };
	struct ledger *ledger = house->books.ledger;

	house->now_ns += NSEC_PER_SEC;
	house->busy_ns = house->dropped_ns = 0;
	ledger_begin(ledger, house->now_ns);
	for (size_t i = 0; i < OWNERS; i++) {
		const struct test_owner owner = {
			.names.text = { [LABEL_CONTAINER_ID] = ids[i],
					[LABEL_CONTAINER_NAME] = ids[i] },
		};

		house->owner[i] = enter_owner(ledger, &owner);
	}
	parties_begin(&house->books.parties, 0);
	assert_int_equal(parties_reserve(&house->books.parties, 8), 0);
	device_parties_begin(&house->books.devices);
}

static void ran(struct house *house, size_t who, uint64_t ms)
{
	parties_add(&house->books.parties, LEDGER_NONE, house->owner[who], ms * NSEC_PER_MSEC,
		    NULL);
	house->busy_ns += ms * NSEC_PER_MSEC;
}

static void used(struct house *house, size_t who, uint64_t ms)
{
	assert_int_equal(device_parties_add(&house->books.devices, 0, LEDGER_NONE,
					    house->owner[who], ms * NSEC_PER_MSEC, 0),
			 0);
}

/* After a second in which the zones drew so much. */
static void end(struct house *house, uint64_t package_uj, uint64_t gpu_uj, uint64_t other_uj)
{
	const uint64_t drawn_uj[ZONES] = {
		[OTHER] = other_uj, [PACKAGE] = package_uj, [GPU] = gpu_uj, [DRAM] = house->dram_uj
	};
	struct interval interval;

	house->books.span_count = 0;
	for (uint32_t z = 0; z < ZONES; z++) {
		bool has_begun = house->read_ns[z] > 0;
		struct energy_span span;

		house->energy_uj[z] += drawn_uj[z];
		if (house->is_quiet[z])
			continue;
		span = (struct energy_span){
			.known = has_begun,
			.from_ns = house->read_ns[z],
			.to_ns = house->now_ns,
			.energy_uj = has_begun ? house->energy_uj[z] : 0,
		};
		books_put_span(&house->books, z, span);
		house->metered_uj[z] += has_begun ? house->energy_uj[z] : 0;
		house->read_ns[z] = house->now_ns;
		house->energy_uj[z] = 0;
	}
	interval = books_interval(&house->books, house->now_ns);
	interval.work =
		(struct work_sums){ .busy_ns = house->busy_ns, .dropped_ns = house->dropped_ns };
	interval.measured = (struct zone_activity){ .dt_ns = NSEC_PER_SEC, .utilisation = 0.5 };
	books_book(&house->books, &interval, NULL);
	ledger_close(house->books.ledger);
}

static uint64_t other_uj(const struct house *house, size_t who, enum energy_mode mode)
{
	const struct ledger *ledger = house->books.ledger;

	return ledger_values(ledger, LEVEL_CONTAINER,
			     house->owner[who])[ledger_column(ledger, OTHER, mode)];
}

static uint64_t unattributed_uj(const struct house *house, enum energy_mode mode,
				enum unattributed_reason reason)
{
	return ledger_unattributed_value(house->books.ledger, OTHER, mode, reason);
}

static void check_law(const struct house *house)
{
	uint64_t sum_uj = 0;

	for (size_t who = 0; who < OWNERS; who++)
		sum_uj += other_uj(house, who, MODE_DYNAMIC);
	for (enum unattributed_reason reason = 0; reason < UNATTRIBUTED_REASON_COUNT; reason++)
		sum_uj += unattributed_uj(house, MODE_DYNAMIC, reason);
	assert_int_equal(sum_uj, house->metered_uj[OTHER]);
}

static void it_follows_the_energy_of_the_parts(void **state)
{
	struct house house;

	set_up(&house);
	begin(&house);
	end(&house, 0, 0, 0);
	begin(&house);
	ran(&house, ALICE, 300);
	ran(&house, BOB, 100);
	used(&house, BOB, 200);
	used(&house, CAROL, 600);
	end(&house, 40 * J, 160 * J, 50 * J + 1); /* alice 30, bob 10 + 40, carol 120 of 200 J */
	assert_in_range(other_uj(&house, ALICE, MODE_DYNAMIC), 7500000, 7500001);
	assert_in_range(other_uj(&house, BOB, MODE_DYNAMIC), 12500000, 12500001);
	assert_in_range(other_uj(&house, CAROL, MODE_DYNAMIC), 30000000, 30000001);
	check_law(&house);
	tear_down(&house);
}

static void what_is_split_as_another_part_adds_to_it(void **state)
{
	struct house house;

	set_up(&house);
	begin(&house);
	end(&house, 0, 0, 0);
	house.dram_uj = 20 * J;
	begin(&house);
	ran(&house, ALICE, 300);
	used(&house, BOB, 200);
	end(&house, 40 * J, 40 * J, 50 * J); /* alice 60, bob 40 */
	assert_int_equal(other_uj(&house, ALICE, MODE_DYNAMIC), 30 * J);
	assert_int_equal(other_uj(&house, BOB, MODE_DYNAMIC), 20 * J);
	check_law(&house);
	tear_down(&house);
}

/* A board whose driver names no users: the energy that it explains is theirs, even unnamed. */
static void a_part_that_nothing_is_known_to_use_has_its_share(void **state)
{
	struct house house;

	set_up(&house);
	begin(&house);
	end(&house, 0, 0, 0);
	begin(&house);
	ran(&house, ALICE, 300);
	end(&house, 10 * J, 90 * J, 50 * J);
	assert_int_equal(other_uj(&house, ALICE, MODE_DYNAMIC), 5 * J);
	assert_int_equal(unattributed_uj(&house, MODE_DYNAMIC, UNATTRIBUTED_UNSEEN), 45 * J);
	check_law(&house);
	tear_down(&house);
}

/* A BMC reports seldom: its energy belongs to users of the parts since its last report. */
static void it_follows_them_through_its_gaps(void **state)
{
	struct house house;

	set_up(&house);
	begin(&house);
	end(&house, 0, 0, 0);
	house.is_quiet[OTHER] = true;
	begin(&house);
	ran(&house, ALICE, 1000);
	end(&house, 60 * J, 0, 10 * J);
	begin(&house);
	used(&house, BOB, 1000);
	end(&house, 0, 30 * J, 10 * J);
	house.is_quiet[OTHER] = false;
	begin(&house);
	ran(&house, CAROL, 1000);
	end(&house, 10 * J, 0, 10 * J);
	assert_int_equal(other_uj(&house, ALICE, MODE_DYNAMIC), 18 * J);
	assert_int_equal(other_uj(&house, BOB, MODE_DYNAMIC), 9 * J);
	assert_int_equal(other_uj(&house, CAROL, MODE_DYNAMIC), 3 * J);
	assert_int_equal(house.books.accountant.gaps.used, 0);
	check_law(&house);
	tear_down(&house);
}

/* The package cannot be read for a while: its energy comes late, and with it what it explains. */
static void energy_that_comes_late_weighs_when_it_comes(void **state)
{
	struct house house;

	set_up(&house);
	begin(&house);
	end(&house, 0, 0, 0);
	house.is_quiet[PACKAGE] = house.is_quiet[OTHER] = true;
	begin(&house);
	ran(&house, ALICE, 1000);
	end(&house, 30 * J, 0, 10 * J);
	house.is_quiet[PACKAGE] = house.is_quiet[OTHER] = false;
	begin(&house);
	ran(&house, BOB, 1000);
	end(&house, 30 * J, 0, 10 * J);
	assert_int_equal(other_uj(&house, ALICE, MODE_DYNAMIC), 10 * J);
	assert_int_equal(other_uj(&house, BOB, MODE_DYNAMIC), 10 * J);
	check_law(&house);
	tear_down(&house);
}

/* A model of a part may lack its signals, and a meter may stand still. */
static void without_energy_of_parts_it_follows_cpus(void **state)
{
	struct house house;

	set_up(&house);
	begin(&house);
	end(&house, 0, 0, 0);
	begin(&house);
	ran(&house, ALICE, 750);
	ran(&house, BOB, 250);
	end(&house, 0, 0, 40 * J);
	assert_int_equal(other_uj(&house, ALICE, MODE_DYNAMIC), 30 * J);
	assert_int_equal(other_uj(&house, BOB, MODE_DYNAMIC), 10 * J);
	check_law(&house);
	tear_down(&house);
}

static void what_has_no_name_has_its_part(void **state)
{
	struct house house;

	set_up(&house);
	begin(&house);
	end(&house, 0, 0, 0);
	begin(&house);
	ran(&house, ALICE, 300);
	house.dropped_ns = 100 * NSEC_PER_MSEC;
	end(&house, 40 * J, 0, 20 * J);
	assert_int_equal(other_uj(&house, ALICE, MODE_DYNAMIC), 15 * J);
	assert_int_equal(unattributed_uj(&house, MODE_DYNAMIC, UNATTRIBUTED_DROPPED), 5 * J);
	begin(&house);
	end(&house, 0, 0, 7 * J); /* nothing used anything */
	assert_int_equal(unattributed_uj(&house, MODE_DYNAMIC, UNATTRIBUTED_NO_ACTIVITY), 7 * J);
	check_law(&house);
	tear_down(&house);
}

/* Idle energy of it follows the idle energy of the parts, or with usage what was used. */
static void idle_energy_follows_idle_energy(void **state)
{
	static const enum idle_share shares[] = { IDLE_SHARE_EQUAL, IDLE_SHARE_USAGE };

	for (size_t i = 0; i < 2; i++) {
		struct house house;

		set_up(&house);
		for (size_t z = 0; z < ZONES; z++) {
			house.books.accountant.zones[z].idle_state = IDLE_FIXED;
			house.books.accountant.zones[z].idle_power_uw = z == GPU ? 0 : 20 * J;
		}
		house.books.accountant.idle_share = shares[i];
		assert_int_equal(ledger_bear_idle(house.books.ledger), 0);
		begin(&house);
		end(&house, 0, 0, 0);
		begin(&house);
		ran(&house, ALICE, 300);
		ran(&house, BOB, 100);
		end(&house, 60 * J, 0, 24 * J);
		assert_int_equal(other_uj(&house, ALICE, MODE_DYNAMIC), 3 * J);
		assert_int_equal(other_uj(&house, BOB, MODE_DYNAMIC), 1 * J);
		if (shares[i] == IDLE_SHARE_USAGE) {
			assert_int_equal(other_uj(&house, ALICE, MODE_IDLE), 15 * J);
			assert_int_equal(other_uj(&house, BOB, MODE_IDLE), 5 * J);
		}
		tear_down(&house);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_follows_the_energy_of_the_parts),
		cmocka_unit_test(what_is_split_as_another_part_adds_to_it),
		cmocka_unit_test(a_part_that_nothing_is_known_to_use_has_its_share),
		cmocka_unit_test(it_follows_them_through_its_gaps),
		cmocka_unit_test(energy_that_comes_late_weighs_when_it_comes),
		cmocka_unit_test(without_energy_of_parts_it_follows_cpus),
		cmocka_unit_test(what_has_no_name_has_its_part),
		cmocka_unit_test(idle_energy_follows_idle_energy),
	};

	return unit_run(tests);
}
