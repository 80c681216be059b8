// SPDX-License-Identifier: Apache-2.0
#include "attribution/books.h"

#include <errno.h>

#include "base/num.h"
#include "energy/total.h"
#include "tests/unit/attribution/house.h"

static void spans_are_in_the_order_of_zones(void **state)
{
	static const size_t put[] = { 2, 0, 3, 1 };
	struct house house;

	(void)state;
	set_up_house(&house);
	for (size_t i = 0; i < 4; i++)
		books_put_span(&house.books, put[i], (struct energy_span){ .energy_uj = put[i] });
	assert_int_equal(house.books.span_count, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(house.books.spans[i].zone, i);
		assert_int_equal(house.books.spans[i].energy_uj, i);
	}
	tear_down_house(&house);
}

/* A reload asks for it: rows get columns though no zone is new. */
static void idle_energy_gets_columns(void **state)
{
	const struct idle_options by_size = { .mode = IDLE_MODE_FIXED, .share = IDLE_SHARE_SIZE };
	struct house house;

	(void)state;
	set_up_house(&house);
	assert_int_equal(books_choose_totals(&house.books), 0);
	assert_false(ledger_layout(house.books.ledger)->bears_idle);
	books_configure(&house.books, &by_size, &by_cpu_time, SETTLE_NS);
	assert_int_equal(books_choose_totals(&house.books), 0);
	assert_true(ledger_layout(house.books.ledger)->bears_idle);
	tear_down_house(&house);
}

static void a_new_zone_brings_its_columns(void **state)
{
	const struct idle_options by_size = { .mode = IDLE_MODE_FIXED, .share = IDLE_SHARE_SIZE };
	const struct zone dram = { .kind = ZONE_DRAM, .source = "told" };
	struct house house;

	(void)state;
	set_up_house(&house);
	books_configure(&house.books, &by_size, &by_cpu_time, SETTLE_NS);
	assert_int_equal(books_adopt(&house.books, &dram, 0), 2);
	assert_int_not_equal(ledger_column(house.books.ledger, 2, MODE_IDLE), COLUMN_NONE);
	tear_down_house(&house);
}

/* A second of the machine, by its meter, and of its two packages. */
static void drew(struct house *house, uint64_t machine_uj, uint64_t package_uj)
{
	const uint64_t from_ns = house->now_ns;
	const uint64_t drawn_uj[] = { package_uj, package_uj, machine_uj };

	house->now_ns += NSEC_PER_SEC;
	house->books.span_count = 0;
	for (size_t z = 0; z < 3; z++)
		books_put_span(&house->books, z,
			       (struct energy_span){ .known = true,
						     .from_ns = from_ns,
						     .to_ns = house->now_ns,
						     .energy_uj = drawn_uj[z] });
	books_begin(&house->books, house->now_ns, SETTLE_NS);
	books_advance_remainders(&house->books);
}

static const struct energy_span *span_of_remainder(const struct books *books)
{
	for (size_t i = 0; i < books->span_count; i++) {
		if (books->spans[i].zone == books->rest[QUALITY_MEASURED].at)
			return &books->spans[i];
	}
	return NULL;
}

static void what_no_part_counts_is_a_zone(void **state)
{
	const struct zone platform = { .kind = ZONE_PLATFORM, .source = "bmc" };
	struct house house;
	struct books *books = &house.books;

	(void)state;
	set_up_house(&house);
	assert_int_equal(books_find_remainders(books, 0), 0);
	assert_int_equal(books->rest[QUALITY_MEASURED].at, SIZE_MAX);
	assert_int_equal(books_adopt(books, &platform, 0), 2);
	assert_int_equal(books_choose_totals(books), 0);
	assert_int_equal(books_find_remainders(books, 0), 0);
	assert_int_equal(books_choose_totals(books), 0);
	assert_int_equal(books->rest[QUALITY_MEASURED].at, 3);
	drew(&house, 90, 20);
	drew(&house, 90, 20);
	assert_non_null(span_of_remainder(books));
	assert_int_equal(span_of_remainder(books)->energy_uj, 2 * 50);
	assert_int_equal(books->status[3].state, ZONE_UP);
	assert_true(books->accountant.is_part[0]);
	/* It is known as far as the whole is. */
	books->status[1] = (struct zone_status){ .state = ZONE_ERROR, .error = -EINVAL };
	books->status[2] = (struct zone_status){ .state = ZONE_ERROR, .error = -EIO };
	drew(&house, 90, 20);
	assert_int_equal(books->status[3].state, ZONE_ERROR);
	assert_int_equal(books->status[3].error, -EIO);
	assert_int_equal(books->status[3].errors, 1);
	tear_down_house(&house);
}

/* A replay adopts the zone from the recording; a fixed idle power of the whole holds there, too. */
static void a_recorded_remainder_has_its_idle_power(void **state)
{
	const struct zone platform = { .kind = ZONE_PLATFORM, .source = "bmc" };
	const struct zone measured = { .kind = ZONE_OTHER,
				       .source = "remainder",
				       .rank = RANK_SENSOR_POWER };
	const struct zone estimated = { .kind = ZONE_OTHER,
					.quality = QUALITY_ESTIMATED,
					.source = "model",
					.rank = RANK_REST };
	const struct idle_options fixed = {
		.mode = IDLE_MODE_FIXED,
		.watts = { { "platform", 100 }, { "package", 20 } },
		.watts_count = 2,
	};
	struct house house;
	struct books *books = &house.books;

	(void)state;
	set_up_house(&house);
	books_configure(books, &fixed, &by_cpu_time, SETTLE_NS);
	assert_int_equal(books_adopt(books, &platform, 0), 2);
	assert_int_equal(books_adopt(books, &measured, 0), 3);
	assert_int_equal(books_adopt(books, &estimated, 0), 4);
	assert_int_equal(books_choose_totals(books), 0);
	for (size_t z = 0; z < 3; z++)
		books->accountant.contenders[z].standing = STANDING_COUNTS;
	books_begin(books, house.now_ns, SETTLE_NS);
	assert_int_equal(books->accountant.zones[3].idle_state, IDLE_FIXED);
	assert_int_equal(books->accountant.zones[3].idle_power_uw, (100 - 2 * 20) * UJ_PER_J);
	assert_int_equal(books->accountant.zones[4].idle_state, IDLE_OFF);
	tear_down_house(&house);
}

/* Another source takes over from the whole of the estimates. */
static void a_remainder_ends_with_its_whole_and_has_no_errors(void **state)
{
	const struct zone zones[] = {
		{ .kind = ZONE_PLATFORM,
		  .quality = QUALITY_ESTIMATED,
		  .source = "model",
		  .rank = RANK_MODEL },
		{ .kind = ZONE_DRAM,
		  .quality = QUALITY_ESTIMATED,
		  .source = "model",
		  .rank = RANK_MODEL },
	};
	const struct ledger_options options = { .max_processes = 64, .max_containers = 16 };
	struct books books = { 0 };

	(void)state;
	assert_int_equal(books_open(&books, &options), 0);
	books_configure(&books, &all_dynamic, &by_cpu_time, 0);
	for (size_t z = 0; z < 2; z++)
		assert_int_equal(books_adopt(&books, &zones[z], 0), z);
	assert_int_equal(books_find_remainders(&books, 0), 0);
	assert_int_equal(books.rest[QUALITY_ESTIMATED].at, 2);
	assert_false(books_has_ended(&books, 2));
	books.accountant.contenders[0].standing = STANDING_ENDED;
	books_begin(&books, NSEC_PER_SEC, 0);
	books_advance_remainders(&books);
	assert_true(books_has_ended(&books, 2));
	assert_false(books_has_ended(&books, 1));
	assert_int_equal(books.status[2].state, ZONE_ABSENT);
	assert_int_equal(books.status[2].errors, 0);
	books_release(&books);
}

enum { PLATFORM, DRAM, OTHER };

/* A second in which A has nine tenths of the CPU time, and B has nine tenths of the misses. */
static void run_second(struct house *house)
{
	struct parties *parties = &house->books.parties;
	const uint64_t drawn_j[] = { 40, 30 }, idle_j[] = { 10, 5 }, from_ns = house->now_ns;
	struct interval interval;

	begin(house, 0);
	house->books.span_count = 0;
	for (size_t z = 0; z < 2; z++)
		books_put_span(&house->books, z,
			       (struct energy_span){ .known = from_ns > NSEC_PER_SEC,
						     .from_ns = from_ns,
						     .to_ns = house->now_ns,
						     .energy_uj = drawn_j[z] * UJ_PER_J,
						     .idle_uj = idle_j[z] * UJ_PER_J });
	books_advance_remainders(&house->books);
	parties_know(parties, SIGNAL_BIT(SIGNAL_CACHE_MISSES) | SIGNAL_BIT(SIGNAL_COUNTED_TIME));
	assert_int_equal(parties_reserve(parties, 8), 0);
	for (size_t i = 0; i < 2; i++) {
		const uint64_t tenths = i ? 1 : 9, ns = tenths * NSEC_PER_SEC / 10;

		ran(house, i, 0, ns);
		parties_add_signal(parties, SIGNAL_CACHE_MISSES, 10 - tenths);
		parties_add_signal(parties, SIGNAL_COUNTED_TIME, ns);
	}
	interval = books_interval(&house->books, house->now_ns);
	interval.work.busy_ns = house->busy_ns;
	interval.measured = (struct zone_activity){ .dt_ns = NSEC_PER_SEC, .utilisation = 1 };
	books_book(&house->books, &interval, NULL);
	ledger_close(house->books.ledger);
}

/* Energy charged to a container for a part is in its total, though it used hardly any CPU time. */
static void a_total_has_all_of_an_estimated_part(void **state)
{
	static const struct zone zones[] = {
		{ .kind = ZONE_PLATFORM,
		  .quality = QUALITY_ESTIMATED,
		  .knows_idle = true,
		  .source = "model",
		  .rank = RANK_ESTIMATED },
		{ .kind = ZONE_DRAM,
		  .quality = QUALITY_ESTIMATED,
		  .knows_idle = true,
		  .source = "model",
		  .rank = RANK_ESTIMATED },
	};
	const struct ledger_options options = { .max_processes = 64,
						.max_containers = 16,
						.by_zone = true };
	const struct idle_options idle = { .mode = IDLE_MODE_LEARNED };
	const struct share_options share = {
		.rule = { [ZONE_DRAM] = SHARE_CACHE_MISSES },
		.smt_ppm = SHARE_SMT_PPM,
	};
	struct house house = { .now_ns = NSEC_PER_SEC };
	struct books *books = &house.books;
	struct zone_account *accounts = books->accountant.zones;

	(void)state;
	assert_int_equal(books_open(books, &options), 0);
	books_configure(books, &idle, &share, 0);
	for (size_t z = 0; z < 2; z++)
		assert_int_equal(books_adopt(books, &zones[z], 0), z);
	assert_int_equal(books_find_remainders(books, 0), 0);
	assert_int_equal(books_choose_totals(books), 0);
	assert_int_equal(books->rest[QUALITY_ESTIMATED].at, OTHER);
	assert_int_equal(books->rest[QUALITY_MEASURED].at, SIZE_MAX);
	assert_int_equal(accounts[PLATFORM].total, TOTAL_NONE);
	assert_int_equal(accounts[DRAM].total, 1);
	assert_int_equal(accounts[OTHER].total, 1);
	run_second(&house);
	run_second(&house);
	assert_int_equal(accounts[OTHER].idle_state, IDLE_MODEL);
	/* B: of the platform's 30 J 3 J, of the dram's 25 J 22.5 J, of the other 5 J 0.5 J. */
	assert_int_equal(joules(&house, 1, PLATFORM), 3);
	assert_int_equal(joules(&house, 1, DRAM), 22);
	assert_int_equal(joules(&house, 0, OTHER), 4);
	/* A: 2.5 J and 4.5 J: both together are all that is dynamic of the platform. */
	assert_int_equal(joules(&house, 0, DRAM), 2);
	assert_int_equal(ledger_node_value(books->ledger, DRAM, MODE_DYNAMIC) +
				 ledger_node_value(books->ledger, OTHER, MODE_DYNAMIC),
			 ledger_node_value(books->ledger, PLATFORM, MODE_DYNAMIC));
	assert_int_equal(ledger_node_value(books->ledger, DRAM, MODE_IDLE) +
				 ledger_node_value(books->ledger, OTHER, MODE_IDLE),
			 ledger_node_value(books->ledger, PLATFORM, MODE_IDLE));
	tear_down_house(&house);
}

/* Other books go on with a zone where these are: saved from them, it is the same again. */
static void a_zone_goes_on_in_other_books(void **state)
{
	const struct idle_learner learner = { .time_ns = 5 };
	struct house house, other;
	struct zone_progress saved, again;

	(void)state;
	set_up_house(&house);
	set_up_house(&other);
	begin(&house, 2);
	end(&house, 0, 0);
	begin(&house, 2);
	ran(&house, 0, 0, NSEC_PER_SEC);
	end(&house, 10, 20);
	house.books.accountant.zones[1].count_from_ns = 7;
	saved = books_save(&house.books, 1);
	assert_true(saved.has_span && saved.rank_begun && saved.was_read);
	books_load(&other.books, 1, &saved);
	again = books_save(&other.books, 1);
	assert_true(again.has_span && again.rank_begun && again.was_read);
	assert_int_equal(again.count_from_ns, 7);
	assert_int_equal(again.standing, saved.standing);
	books_restore(&other.books, 1, &learner);
	assert_int_equal(other.books.accountant.zones[1].learner.time_ns, 5);
	tear_down_house(&other);
	tear_down_house(&house);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_are_in_the_order_of_zones),
		cmocka_unit_test(idle_energy_gets_columns),
		cmocka_unit_test(a_new_zone_brings_its_columns),
		cmocka_unit_test(what_no_part_counts_is_a_zone),
		cmocka_unit_test(a_recorded_remainder_has_its_idle_power),
		cmocka_unit_test(a_remainder_ends_with_its_whole_and_has_no_errors),
		cmocka_unit_test(a_total_has_all_of_an_estimated_part),
		cmocka_unit_test(a_zone_goes_on_in_other_books),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
