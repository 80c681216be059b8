// SPDX-License-Identifier: Apache-2.0
#include "attribution/books.h"

#include <errno.h>

#include "base/num.h"
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
	books_advance_remainder(&house->books);
}

static const struct energy_span *span_of_remainder(const struct books *books)
{
	for (size_t i = 0; i < books->span_count; i++) {
		if (books->spans[i].zone == books->remainder_at)
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
	assert_int_equal(books_find_remainder(books, 0), 0);
	assert_int_equal(books->remainder_at, SIZE_MAX);
	assert_int_equal(books_adopt(books, &platform, 0), 2);
	assert_int_equal(books_choose_totals(books), 0);
	assert_int_equal(books_find_remainder(books, 0), 0);
	assert_int_equal(books_choose_totals(books), 0);
	assert_int_equal(books->remainder_at, 3);
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
		cmocka_unit_test(a_zone_goes_on_in_other_books),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
