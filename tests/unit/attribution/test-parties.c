// SPDX-License-Identifier: Apache-2.0
#include "attribution/parties.h"

#include "base/num.h"
#include "tests/rig/test_owner.h"
#include "tests/rig/test_zones.h"
#include "tests/unit/unit.h"

struct book {
	struct ledger *ledger;
	struct parties parties;
	uint32_t large, small, unsized; /* containers */
};

static uint32_t add_container(struct book *book, const char *id, uint32_t millicpu)
{
	const struct test_owner owner = { .names.text[LABEL_CONTAINER_ID] = id,
					  .names.text[LABEL_CONTAINER_NAME] = id,
					  .names.text[LABEL_NAMESPACE] = "shop",
					  .size_millicpu = millicpu };

	return enter_owner(book->ledger, &owner);
}

static uint32_t add_process(struct book *book, uint32_t pid, uint32_t container)
{
	return ledger_process(book->ledger, pid, 1, "work", container);
}

static void open_book(struct book *book)
{
	const struct ledger_options options = {
		.max_processes = 64,
		.max_containers = 16,
	};

	*book = (struct book){ 0 };
	assert_int_equal(ledger_new(&options, &book->ledger), 0);
	assert_int_equal(test_add_zones(book->ledger, 1), 0);
	ledger_begin(book->ledger, NSEC_PER_SEC);
	book->large = add_container(book, "large", 3000);
	book->small = add_container(book, "small", 500);
	book->unsized = add_container(book, "unsized", 0);
	(void)add_process(book, 10, book->large);
	(void)add_process(book, 20, book->small);
	(void)add_process(book, 30, book->unsized);
	assert_int_equal(parties_reserve(&book->parties, 3), 0);
}

static void close_book(struct book *book)
{
	parties_release(&book->parties);
	ledger_free(book->ledger);
}

static void ran(struct book *book, uint32_t pid, uint32_t container, uint64_t cpu_ns)
{
	parties_add(&book->parties, add_process(book, pid, container), container, cpu_ns, NULL);
}

static uint64_t weight_of(const struct book *book, uint32_t container)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < book->parties.count; i++) {
		if (book->parties.party[i].container == container)
			sum += book->parties.idle_weight[i];
	}
	return sum;
}

static void by_size_a_sleeper_is_charged_for_its_request(void **state)
{
	struct book book;

	open_book(&book);
	ledger_begin(book.ledger, 2 * NSEC_PER_SEC);
	ran(&book, 20, book.small, NSEC_PER_SEC);
	ran(&book, 30, book.unsized, NSEC_PER_SEC / 4);
	assert_int_equal(
		parties_weigh_idle(&book.parties, book.ledger, IDLE_SHARE_SIZE, 2 * NSEC_PER_SEC),
		0);
	assert_int_equal(weight_of(&book, book.large), 6 * NSEC_PER_SEC);
	assert_int_equal(weight_of(&book, book.small), NSEC_PER_SEC);
	assert_int_equal(weight_of(&book, book.unsized), NSEC_PER_SEC / 4);
	close_book(&book);
}

static void by_size_ended_processes_are_charged_nothing(void **state)
{
	struct book book;

	open_book(&book);
	ledger_end_process(book.ledger, ledger_find_process(book.ledger, 10, 1));
	ledger_begin(book.ledger, 2 * NSEC_PER_SEC);
	ran(&book, 20, book.small, 1);
	assert_int_equal(
		parties_weigh_idle(&book.parties, book.ledger, IDLE_SHARE_SIZE, NSEC_PER_SEC), 0);
	assert_int_equal(weight_of(&book, book.large), 0);
	close_book(&book);
}

static void equal_shares_are_of_all_that_live(void **state)
{
	struct book book;

	open_book(&book);
	ledger_begin(book.ledger, 2 * NSEC_PER_SEC);
	ran(&book, 20, book.small, 12345);
	assert_int_equal(
		parties_weigh_idle(&book.parties, book.ledger, IDLE_SHARE_EQUAL, NSEC_PER_SEC), 0);
	assert_int_equal(weight_of(&book, book.large), 1);
	assert_int_equal(weight_of(&book, book.small), 1);
	assert_int_equal(weight_of(&book, book.unsized), 1);
	close_book(&book);
}

static void by_usage_weights_are_what_ran(void **state)
{
	struct book book;

	open_book(&book);
	ledger_begin(book.ledger, 2 * NSEC_PER_SEC);
	ran(&book, 20, book.small, 12345);
	assert_int_equal(
		parties_weigh_idle(&book.parties, book.ledger, IDLE_SHARE_USAGE, NSEC_PER_SEC), 0);
	assert_int_equal(weight_of(&book, book.small), 12345);
	assert_int_equal(weight_of(&book, book.large), 0);
	close_book(&book);
}

/* Work of an unknown socket is spread like known work; each party's parts are all that it ran. */
static void sockets_of_unknown_work_are_those_of_known(void **state)
{
	static const uint64_t first[2] = { 600, 0 }, second[2] = { 0, 200 };
	struct book book;

	open_book(&book);
	parties_begin(&book.parties, 2);
	assert_int_equal(parties_reserve(&book.parties, 3), 0);
	parties_add(&book.parties, 0, book.large, 600, first);
	parties_add(&book.parties, 1, book.small, 300, second);
	parties_add(&book.parties, LEDGER_NONE, book.unsized, 41, NULL);
	parties_spread_sockets(&book.parties);
	assert_int_equal(book.parties.socket_ns[0][0], 600);
	assert_int_equal(book.parties.socket_ns[1][0], 0);
	assert_int_equal(book.parties.socket_ns[0][1], 75);
	assert_int_equal(book.parties.socket_ns[1][1], 225);
	assert_int_equal(book.parties.socket_ns[0][2] + book.parties.socket_ns[1][2], 41);
	assert_int_equal(parties_of_socket(&book.parties, 1, 4000), 1000);

	parties_begin(&book.parties, 2); /* nothing is known: alike */
	parties_add(&book.parties, LEDGER_NONE, book.unsized, 41, NULL);
	parties_spread_sockets(&book.parties);
	assert_int_equal(book.parties.socket_ns[0][0], 20);
	assert_int_equal(book.parties.socket_ns[1][0], 21);
	close_book(&book);
}

/* There may be more parties when it is known again: it has room for all of them. */
static void a_signal_that_was_lost_has_room_again(void **state)
{
	struct parties parties = { 0 };

	for (uint32_t round = 0; round < 3; round++) {
		bool known = round != 1;
		size_t count = round == 0 ? 10 : 5000;

		parties_begin(&parties, 0);
		parties_know(&parties, known ? SIGNAL_BIT(SIGNAL_NET_BYTES) : 0);
		assert_int_equal(parties_reserve(&parties, count), 0);
		for (size_t i = 0; i < count; i++) {
			parties_add(&parties, LEDGER_NONE, 0, 1, NULL);
			if (known)
				parties_add_signal(&parties, SIGNAL_NET_BYTES, 2);
		}
		assert_int_equal(parties.signal_sum[SIGNAL_NET_BYTES], known ? 2 * count : 0);
	}
	parties_release(&parties);
}

/* In between there were more parties than ever. */
static void a_signal_that_comes_back_has_room(void **state)
{
	struct parties parties = { 0 };
	const uint32_t signals = SIGNAL_BIT(SIGNAL_CPU_CYCLES);

	for (size_t turn = 0; turn < 3; turn++) {
		size_t count = turn ? 5000 : 10;

		parties_begin(&parties, 0);
		parties_know(&parties, turn == 1 ? 0 : signals);
		assert_int_equal(parties_reserve(&parties, count), 0);
		for (size_t i = 0; i < count; i++)
			parties_add(&parties, LEDGER_NONE, 0, i, NULL);
	}
	parties_add_signal(&parties, SIGNAL_CPU_CYCLES, 7);
	assert_int_equal(parties.signal[SIGNAL_CPU_CYCLES][4999], 7);
	assert_int_equal(parties.signal_sum[SIGNAL_CPU_CYCLES], 7);
	parties_release(&parties);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_size_a_sleeper_is_charged_for_its_request),
		cmocka_unit_test(by_size_ended_processes_are_charged_nothing),
		cmocka_unit_test(equal_shares_are_of_all_that_live),
		cmocka_unit_test(by_usage_weights_are_what_ran),
		cmocka_unit_test(sockets_of_unknown_work_are_those_of_known),
		cmocka_unit_test(a_signal_that_was_lost_has_room_again),
		cmocka_unit_test(a_signal_that_comes_back_has_room),
	};

	return unit_run(tests);
}
