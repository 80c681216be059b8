// SPDX-License-Identifier: Apache-2.0
/* A package and two GPUs: the energy of each GPU goes to what used it, whatever ran on the CPUs. */
#include "attribution/books.h"

#include "base/num.h"
#include "tests/rig/test_owner.h"
#include "tests/unit/unit.h"

#define ZONES 3
#define J     1000000

static const struct idle_options options = { .mode = IDLE_MODE_OFF };
static const struct share_options by_cpu_time = { .smt_ppm = 0 };
static const struct idle_options learned = { .mode = IDLE_MODE_LEARNED };

struct house {
	struct zone zones[ZONES]; /* the package, GPU 0, GPU 1 */
	struct books books;
	bool is_quiet[ZONES];
	uint64_t read_ns[ZONES], energy_uj[ZONES], metered_uj[ZONES];
	uint64_t now_ns, busy_ns;
	uint32_t owner[3]; /* containers */
};

static void set_up(struct house *house)
{
	const struct ledger_options ledger = {
		.max_processes = 64,
		.max_containers = 16,
	};

	*house = (struct house){
		.zones = { { .kind = ZONE_PACKAGE, .instance = "0", .source = "told" },
			   { .kind = ZONE_GPU,
			     .instance = "GPU-a",
			     .source = "gpus",
			     .domain = { DOMAIN_DEVICE, 0 } },
			   { .kind = ZONE_GPU,
			     .instance = "GPU-b",
			     .source = "gpus",
			     .domain = { DOMAIN_DEVICE, 1 } } },
		.now_ns = NSEC_PER_SEC,
	};
	assert_int_equal(books_open(&house->books, &ledger), 0);
	books_configure(&house->books, &options, &by_cpu_time, 0);
	for (uint32_t z = 0; z < ZONES; z++) {
		house->books.status[z] = (struct zone_status){ .state = ZONE_UP };
		assert_int_equal(books_adopt(&house->books, &house->zones[z], 0), z);
	}
}

static void tear_down(struct house *house)
{
	books_release(&house->books);
}

static void begin(struct house *house)
{
	struct ledger *ledger = house->books.ledger;
	static const char *const ids[] = { "a", "b", "c" };

	house->now_ns += NSEC_PER_SEC;
	house->busy_ns = 0;
	ledger_begin(ledger, house->now_ns);
	for (size_t i = 0; i < 3; i++) {
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

static void ran(struct house *house, size_t who, uint64_t ns)
{
	parties_add(&house->books.parties, LEDGER_NONE, house->owner[who], ns, NULL);
	house->busy_ns += ns;
}

static void held(struct house *house, size_t who, uint32_t device, uint64_t ns)
{
	assert_int_equal(device_parties_add(&house->books.devices, device, LEDGER_NONE,
					    house->owner[who], ns, DEVICE_WHOLE),
			 0);
}

static void used(struct house *house, size_t who, uint32_t device, uint64_t ns)
{
	assert_int_equal(device_parties_add(&house->books.devices, device, LEDGER_NONE,
					    house->owner[who], ns, 0),
			 0);
}

/* After a second in which the zones drew so much. */
static void end(struct house *house, uint64_t package_uj, uint64_t first_uj, uint64_t second_uj)
{
	const uint64_t drawn_uj[ZONES] = { package_uj, first_uj, second_uj };
	struct interval interval;

	house->books.span_count = 0;
	for (uint32_t z = 0; z < ZONES; z++) {
		bool has_begun = house->read_ns[z] > 0;
		struct energy_span span;

		house->energy_uj[z] += drawn_uj[z];
		if (house->books.status[z].state != ZONE_UP || house->is_quiet[z])
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
	interval.work = (struct work_sums){ .busy_ns = house->busy_ns };
	interval.measured = (struct zone_activity){ .dt_ns = NSEC_PER_SEC, .utilisation = 0.5 };
	books_book(&house->books, &interval, NULL);
	ledger_close(house->books.ledger);
}

static uint64_t gpu_uj(const struct house *house, size_t who)
{
	const struct ledger *ledger = house->books.ledger;

	return ledger_values(ledger, LEVEL_CONTAINER,
			     house->owner[who])[ledger_column(ledger, 1, MODE_DYNAMIC)];
}

static uint64_t package_uj(const struct house *house, size_t who)
{
	const struct ledger *ledger = house->books.ledger;

	return ledger_values(ledger, LEVEL_CONTAINER,
			     house->owner[who])[ledger_column(ledger, 0, MODE_DYNAMIC)];
}

static uint64_t unattributed_uj(const struct house *house, uint32_t z,
				enum unattributed_reason reason)
{
	return ledger_unattributed_value(house->books.ledger, z, MODE_DYNAMIC, reason);
}

/* Both GPUs are one column of a row: what rows have, and what none has, is what was metered. */
static void check_law(const struct house *house)
{
	uint64_t sum_uj = 0;

	for (size_t who = 0; who < 3; who++)
		sum_uj += gpu_uj(house, who);
	for (uint32_t z = 1; z < ZONES; z++) {
		for (enum unattributed_reason reason = 0; reason < UNATTRIBUTED_REASON_COUNT;
		     reason++)
			sum_uj += unattributed_uj(house, z, reason);
	}
	assert_int_equal(sum_uj, house->metered_uj[1] + house->metered_uj[2]);
}

static void a_device_is_what_used_it(void **state)
{
	struct house house;

	set_up(&house);
	begin(&house);
	end(&house, 0, 0, 0);
	begin(&house);
	ran(&house, 0, NSEC_PER_SEC);
	used(&house, 1, 0, 300 * NSEC_PER_MSEC);
	used(&house, 2, 0, 100 * NSEC_PER_MSEC);
	used(&house, 2, 1, 800 * NSEC_PER_MSEC);
	end(&house, 45 * J, 200 * J + 1, 400 * J);
	assert_int_equal(package_uj(&house, 0), 45 * J);
	assert_int_equal(gpu_uj(&house, 0), 0);
	assert_in_range(gpu_uj(&house, 1), 150 * J, 150 * J + 1);
	assert_in_range(gpu_uj(&house, 2), 450 * J, 450 * J + 1);
	check_law(&house);
	tear_down(&house);
}

static void a_device_learns_from_its_own_use(void **state)
{
	struct house house;

	set_up(&house);
	accountant_configure(&house.books.accountant, &learned, 0);
	begin(&house);
	end(&house, 0, 0, 0);
	begin(&house);
	ran(&house, 0, NSEC_PER_SEC);
	used(&house, 1, 0, 400 * NSEC_PER_MSEC);
	used(&house, 2, 1, 800 * NSEC_PER_MSEC);
	end(&house, 45 * J, 200 * J, 400 * J);
	assert_float_equal(house.books.accountant.zones[1].learner.x_max, 0.4, 1e-9);
	assert_float_equal(house.books.accountant.zones[2].learner.x_max, 0.8, 1e-9);
	tear_down(&house);
}

static void what_has_no_name_has_its_part(void **state)
{
	struct house house;

	set_up(&house);
	begin(&house);
	end(&house, 0, 0, 0);
	begin(&house);
	ran(&house, 0, NSEC_PER_SEC);
	used(&house, 1, 0, 100 * NSEC_PER_MSEC);
	device_parties_add_dropped(&house.books.devices, 0, 100 * NSEC_PER_MSEC);
	device_parties_add_unseen(&house.books.devices, 0, 200 * NSEC_PER_MSEC);
	end(&house, 0, 100 * J, 7 * J);
	assert_int_equal(gpu_uj(&house, 1), 25 * J);
	assert_int_equal(unattributed_uj(&house, 1, UNATTRIBUTED_DROPPED), 25 * J);
	assert_int_equal(unattributed_uj(&house, 1, UNATTRIBUTED_UNSEEN), 50 * J);
	assert_int_equal(unattributed_uj(&house, 2, UNATTRIBUTED_NO_ACTIVITY), 7 * J);
	check_law(&house);
	tear_down(&house);
}

/* The use comes with the energy: an interval without either loses nothing, and keeps nothing. */
static void a_reading_that_is_late_has_no_gap(void **state)
{
	struct house house;

	set_up(&house);
	begin(&house);
	end(&house, 0, 0, 0);
	house.is_quiet[1] = true;
	begin(&house);
	ran(&house, 0, NSEC_PER_SEC);
	end(&house, 9 * J, 30 * J, 0);
	assert_int_equal(house.books.accountant.gaps.used, 0);
	house.is_quiet[1] = false;
	begin(&house);
	used(&house, 1, 0, 400 * NSEC_PER_MSEC);
	used(&house, 2, 0, 200 * NSEC_PER_MSEC);
	end(&house, 9 * J, 30 * J, 0);
	assert_int_equal(gpu_uj(&house, 1), 40 * J);
	assert_int_equal(gpu_uj(&house, 2), 20 * J);
	check_law(&house);
	tear_down(&house);
}

/* Its idle power is learned from that, also where intervals are shorter than its period. */
static void use_is_of_the_time_of_its_reading(void **state)
{
	struct house house;

	set_up(&house);
	accountant_configure(&house.books.accountant, &learned, 0);
	begin(&house);
	end(&house, 0, 0, 0);
	house.is_quiet[1] = true;
	begin(&house);
	end(&house, 0, 30 * J, 0);
	house.is_quiet[1] = false;
	begin(&house);
	used(&house, 1, 0, 1200 * NSEC_PER_MSEC);
	end(&house, 0, 30 * J, 0);
	assert_float_equal(house.books.accountant.zones[1].learner.x_max, 0.6, 1e-9);
	tear_down(&house);
}

/* Each device for itself, also where all are lost at once. */
static void use_is_kept_while_energy_cannot_be_read(void **state)
{
	struct house house;

	set_up(&house);
	begin(&house);
	end(&house, 0, 0, 0);
	house.books.status[1].state = house.books.status[2].state = ZONE_ERROR;
	for (size_t who = 0; who < 2; who++) {
		begin(&house);
		used(&house, who, 0, 500 * NSEC_PER_MSEC);
		used(&house, 2, 1, 10 * NSEC_PER_MSEC);
		end(&house, 0, 30 * J, 10 * J);
	}
	assert_int_equal(house.books.accountant.gaps.used, 2);
	house.books.status[1].state = house.books.status[2].state = ZONE_UP;
	begin(&house);
	end(&house, 0, 30 * J, 10 * J);
	assert_int_equal(gpu_uj(&house, 0), 45 * J);
	assert_int_equal(gpu_uj(&house, 1), 45 * J);
	assert_int_equal(gpu_uj(&house, 2), 30 * J);
	assert_int_equal(house.books.accountant.gaps.used, 0);
	check_law(&house);
	tear_down(&house);
}

/* Idle power is not learned from a gap: the use of its last interval is only a part of its use. */
static void a_gap_does_not_teach_idle_power(void **state)
{
	struct house house;

	(void)state;
	set_up(&house);
	accountant_configure(&house.books.accountant, &learned, 0);
	begin(&house);
	end(&house, 0, 0, 0);
	house.books.status[1].state = ZONE_ERROR;
	begin(&house);
	used(&house, 0, 0, 500 * NSEC_PER_MSEC);
	end(&house, 0, 30 * J, 0);
	house.books.status[1].state = ZONE_UP;
	begin(&house);
	used(&house, 0, 0, 500 * NSEC_PER_MSEC);
	end(&house, 0, 30 * J, 0);
	assert_float_equal(house.books.accountant.zones[1].learner.w, 0, 1e-9);
	tear_down(&house);
}

/*
 * A process that runs meanwhile and does not use the GPU has no part of its idle energy, whatever
 * the share.
 */
static void idle_energy_is_of_those_that_used_it(void **state)
{
	static const enum idle_share shares[] = { IDLE_SHARE_USAGE, IDLE_SHARE_SIZE,
						  IDLE_SHARE_EQUAL };

	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		struct house house;
		uint32_t column;
		const struct ledger *ledger;

		set_up(&house);
		house.books.accountant.zones[1].idle_state = IDLE_FIXED;
		house.books.accountant.zones[1].idle_power_uw = 40 * J;
		house.books.accountant.idle_share = shares[i];
		assert_int_equal(ledger_bear_idle(house.books.ledger), 0);
		begin(&house);
		end(&house, 0, 0, 0);
		begin(&house);
		ran(&house, 0, NSEC_PER_SEC);
		used(&house, 1, 0, 300 * NSEC_PER_MSEC);
		used(&house, 2, 0, 100 * NSEC_PER_MSEC);
		device_parties_add_dropped(&house.books.devices, 0, 400 * NSEC_PER_MSEC);
		end(&house, 0, 100 * J, 0);
		ledger = house.books.ledger;
		column = ledger_column(ledger, 1, MODE_IDLE);
		assert_int_equal(ledger_values(ledger, LEVEL_CONTAINER, house.owner[0])[column], 0);
		assert_int_equal(ledger_values(ledger, LEVEL_CONTAINER, house.owner[2])[column],
				 shares[i] == IDLE_SHARE_EQUAL ? 20 * J : 5 * J);
		assert_int_equal(2 * gpu_uj(&house, 1), 45 * J);
		tear_down(&house);
	}
}

/* Busy or not, while the idle energy of all else is the node's. */
static void a_board_that_is_held_is_its_holders(void **state)
{
	struct house house;
	struct accountant *accountant = &house.books.accountant;
	const uint64_t *values;
	uint64_t sum_uj = 0;

	set_up(&house);
	for (uint32_t z = 0; z < ZONES; z++) {
		accountant->zones[z].idle_state = IDLE_FIXED;
		accountant->zones[z].idle_power_uw = 40 * J + z;
	}
	accountant->device_idle = DEVICE_IDLE_HOLDER;
	assert_true(accountant_shares_idle(accountant, &house.zones[1].domain));
	assert_false(accountant_shares_idle(accountant, &house.zones[0].domain));
	assert_int_equal(ledger_bear_idle(accountant->ledger), 0);
	begin(&house);
	end(&house, 0, 0, 0);
	begin(&house);
	ran(&house, 0, NSEC_PER_SEC);
	used(&house, 0, 0, NSEC_PER_SEC / 2); /* by a way that is not seen as held */
	held(&house, 1, 0, 0);
	held(&house, 2, 0, NSEC_PER_SEC / 2);
	end(&house, 100 * J, 100 * J, 100 * J);
	for (size_t who = 0; who < 3; who++) {
		values = ledger_values(accountant->ledger, LEVEL_CONTAINER, house.owner[who]);
		sum_uj += values[ledger_column(accountant->ledger, 1, MODE_IDLE)];
		if (who > 0)
			assert_in_range(values[ledger_column(accountant->ledger, 1, MODE_IDLE)],
					20 * J, 20 * J + 1);
		assert_int_equal(values[ledger_column(accountant->ledger, 0, MODE_IDLE)], 0);
	}
	assert_int_equal(sum_uj, 40 * J + 1);
	/* The other board is held by nothing, and used by nothing. */
	assert_int_equal(ledger_unattributed_value(accountant->ledger, 2, MODE_IDLE,
						   UNATTRIBUTED_NO_ACTIVITY),
			 40 * J + 2);
	assert_int_equal(ledger_unattributed_value(accountant->ledger, 0, MODE_IDLE,
						   UNATTRIBUTED_IDLE_POLICY),
			 40 * J);
	assert_true(accountant->zones[1].rows_have_mode[MODE_IDLE]);
	assert_false(accountant->zones[0].rows_have_mode[MODE_IDLE]);
	begin(&house); /* nothing holds it any more: its users are charged for it */
	used(&house, 0, 0, NSEC_PER_SEC / 2);
	end(&house, 0, 100 * J, 0);
	values = ledger_values(accountant->ledger, LEVEL_CONTAINER, house.owner[0]);
	assert_int_equal(values[ledger_column(accountant->ledger, 1, MODE_IDLE)], 40 * J + 1);
	accountant->device_idle = DEVICE_IDLE_NODE;
	begin(&house);
	held(&house, 0, 0, NSEC_PER_SEC / 2);
	end(&house, 0, 100 * J, 0);
	assert_int_equal(ledger_unattributed_value(accountant->ledger, 1, MODE_IDLE,
						   UNATTRIBUTED_IDLE_POLICY),
			 40 * J + 1);
	tear_down(&house);
}

static uint64_t idle_gpu_uj(const struct house *house, size_t who)
{
	const struct ledger *ledger = house->books.ledger;

	return ledger_values(ledger, LEVEL_CONTAINER,
			     house->owner[who])[ledger_column(ledger, 1, MODE_IDLE)];
}

/* A board that does nothing: three ids belong to one, one to another, one has no name. */
static void a_board_that_was_allocated_is_its_containers(void **state)
{
	struct house house;
	struct accountant *accountant = &house.books.accountant;
	uint64_t lost_uj;

	set_up(&house);
	accountant->zones[1].idle_state = IDLE_FIXED;
	accountant->zones[1].idle_power_uw = 40 * J + 1;
	accountant->device_idle = DEVICE_IDLE_HOLDER;
	assert_int_equal(ledger_bear_idle(accountant->ledger), 0);
	begin(&house);
	end(&house, 0, 0, 0);
	for (int nameless = 0; nameless < 2; nameless++) {
		const uint64_t before_uj[] = { idle_gpu_uj(&house, 0), idle_gpu_uj(&house, 1) };
		const uint64_t ids = nameless ? 5 : 4;

		begin(&house);
		held(&house, 2, 0,
		     NSEC_PER_SEC / 2); /* which looks on, or computes without right */
		assert_int_equal(device_parties_allocate(&house.books.devices, 0, house.owner[0],
							 3 * DEVICE_WHOLE),
				 0);
		assert_int_equal(device_parties_allocate(&house.books.devices, 0, house.owner[1],
							 DEVICE_WHOLE),
				 0);
		if (nameless)
			device_parties_allocate_nameless(&house.books.devices, 0, DEVICE_WHOLE);
		end(&house, 0, 100 * J, 0);
		assert_in_range(idle_gpu_uj(&house, 0) - before_uj[0], 3 * (40 * J + 1) / ids,
				3 * (40 * J + 1) / ids + 1);
		assert_in_range(idle_gpu_uj(&house, 1) - before_uj[1], (40 * J + 1) / ids,
				(40 * J + 1) / ids + 1);
		assert_int_equal(idle_gpu_uj(&house, 2), 0);
	}
	lost_uj = ledger_unattributed_value(accountant->ledger, 1, MODE_IDLE, UNATTRIBUTED_DROPPED);
	assert_in_range(lost_uj, (40 * J + 1) / 5, (40 * J + 1) / 5 + 1);
	assert_int_equal(idle_gpu_uj(&house, 0) + idle_gpu_uj(&house, 1) + lost_uj,
			 2 * (40 * J + 1));
	tear_down(&house);
}

/* Also what has no name keeps its part of a time without readings. */
static void a_gap_keeps_what_was_allocated(void **state)
{
	struct house house;
	struct accountant *accountant = &house.books.accountant;

	set_up(&house);
	accountant->zones[1].idle_state = IDLE_FIXED;
	accountant->zones[1].idle_power_uw = 40 * J;
	accountant->device_idle = DEVICE_IDLE_HOLDER;
	assert_int_equal(ledger_bear_idle(accountant->ledger), 0);
	begin(&house);
	end(&house, 0, 0, 0);
	house.books.status[1].state = ZONE_ERROR;
	for (int second = 0; second < 2; second++) {
		begin(&house);
		used(&house, 0, 0, NSEC_PER_SEC / 2);
		assert_int_equal(device_parties_allocate(&house.books.devices, 0, house.owner[1],
							 DEVICE_WHOLE),
				 0);
		device_parties_allocate_nameless(&house.books.devices, 0, DEVICE_WHOLE);
		if (second == 1)
			house.books.status[1].state = ZONE_UP;
		end(&house, 0, second ? 200 * J : 0, 0);
	}
	assert_int_equal(idle_gpu_uj(&house, 1), 40 * J);
	assert_int_equal(
		ledger_unattributed_value(accountant->ledger, 1, MODE_IDLE, UNATTRIBUTED_DROPPED),
		40 * J);
	tear_down(&house);
}

/* Nothing is known of what used it then, but the rule of its idle energy is the device's. */
static void a_gap_that_was_not_kept_has_the_rule_of_a_device(void **state)
{
	struct house house;
	struct explanation *explained = calloc(1, sizeof(*explained));

	assert_non_null(explained);
	set_up(&house);
	house.books.accountant.zones[1].idle_state = IDLE_FIXED;
	house.books.accountant.zones[1].idle_power_uw = 40 * J;
	house.books.accountant.idle_share = IDLE_SHARE_SIZE;
	assert_int_equal(ledger_bear_idle(house.books.ledger), 0);
	begin(&house);
	end(&house, 0, 0, 0);
	begin(&house);
	*explained = (struct explanation){ .level = LEVEL_CONTAINER, .row = house.owner[1] };
	house.books.accountant.explained = &explained;
	house.books.accountant.explained_count = 1;
	house.books.accountant.gap_of[1] = GAP_LOST;
	used(&house, 1, 0, 400 * NSEC_PER_MSEC);
	end(&house, 0, 100 * J, 0);
	assert_true(explained->zone[1].was_gap);
	assert_int_equal(explained->zone[1].idle_share, IDLE_SHARE_USAGE);
	assert_int_equal(gpu_uj(&house, 1), 0);
	assert_int_equal(unattributed_uj(&house, 1, UNATTRIBUTED_NO_ACTIVITY), 60 * J);
	tear_down(&house);
	free(explained);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_is_what_used_it),
		cmocka_unit_test(a_device_learns_from_its_own_use),
		cmocka_unit_test(what_has_no_name_has_its_part),
		cmocka_unit_test(a_reading_that_is_late_has_no_gap),
		cmocka_unit_test(use_is_of_the_time_of_its_reading),
		cmocka_unit_test(use_is_kept_while_energy_cannot_be_read),
		cmocka_unit_test(a_gap_does_not_teach_idle_power),
		cmocka_unit_test(idle_energy_is_of_those_that_used_it),
		cmocka_unit_test(a_board_that_is_held_is_its_holders),
		cmocka_unit_test(a_board_that_was_allocated_is_its_containers),
		cmocka_unit_test(a_gap_keeps_what_was_allocated),
		cmocka_unit_test(a_gap_that_was_not_kept_has_the_rule_of_a_device),
	};

	return unit_run(tests);
}
