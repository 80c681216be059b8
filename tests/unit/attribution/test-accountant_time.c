// SPDX-License-Identifier: Apache-2.0
/* Energy that is not of the interval in which it is reported: gaps, late meters, sleep. */
#include "attribution/accountant.h"

#include "tests/unit/attribution/house.h"

static void a_gap_is_what_ran_in_it(void **state)
{
	(void)state;
	struct house house;

	set_up_house(&house);
	begin(&house, 2);
	end(&house, 0, 0);
	house.books.status[0].state = ZONE_ERROR;
	begin(&house, 0); /* a pass that failed: what it did not tell comes with the next */
	end(&house, 30, 0);
	begin(&house, 2);
	ran(&house, 0, 0, 600 * NSEC_PER_MSEC);
	ran(&house, 1, 1, 900 * NSEC_PER_MSEC);
	end(&house, 30, 9);
	assert_int_equal(joules(&house, 0, 0), 0);
	house.books.status[0].state = ZONE_UP;
	begin(&house, 2);
	ran(&house, 1, 0, 300 * NSEC_PER_MSEC);
	end(&house, 30, 9);
	assert_int_equal(joules(&house, 0, 0), 60); /* of 90 J, 600 of 900 ms in this socket */
	assert_int_equal(joules(&house, 1, 0), 30);
	assert_int_equal(house.books.accountant.gaps.used, 0);
	begin(&house, 2);
	ran(&house, 1, 0, 300 * NSEC_PER_MSEC);
	end(&house, 30, 9);
	assert_int_equal(joules(&house, 1, 0), 60); /* an interval like any other again */
	tear_down_house(&house);
}

/* By cycles if they are known in all of it; a pass that fails has nothing that would need them. */
static void a_gap_has_one_rule(void **state)
{
	(void)state;

	for (unsigned lacks = 0; lacks < 2; lacks++) {
		struct house house;

		set_up_house(&house);
		share_by_cycles(&house);
		begin(&house, 2);
		count_cycles(&house);
		end(&house, 0, 0);
		house.books.status[0].state = ZONE_ERROR;
		house.pass_fails = true;
		begin(&house, 0);
		end(&house, 20, 0);
		house.pass_fails = false;
		begin(&house, 2);
		if (!lacks)
			count_cycles(&house);
		if (lacks)
			ran(&house, 0, 0, NSEC_PER_SEC / 2);
		else
			ran_at(&house, 0, 0, NSEC_PER_SEC / 2, 3);
		end(&house, 20, 0);
		house.books.status[0].state = ZONE_UP;
		begin(&house, 2);
		count_cycles(&house);
		ran_at(&house, 1, 0, NSEC_PER_SEC / 2, 1);
		end(&house, 20, 0);
		assert_int_equal(joules(&house, 0, 0), lacks ? 30 : 45);
		assert_int_equal(joules(&house, 1, 0), lacks ? 30 : 15);
		tear_down_house(&house);
	}
}

/* A mean of two seconds, each second; at the end cycles are lost, and time is known of before. */
static void what_is_late_has_one_rule(void **state)
{
	(void)state;

	for (unsigned lacks = 0; lacks < 2; lacks++) {
		struct house house;

		set_up_house(&house);
		share_by_cycles(&house);
		house.window_ns = 2 * NSEC_PER_SEC;
		house.now_ns = 100 * NSEC_PER_SEC;
		for (unsigned i = 0; i < 8; i++) {
			begin(&house, 2);
			count_cycles(&house);
			end(&house, 0, 0);
		}
		begin(&house, 2);
		count_cycles(&house);
		ran_at(&house, 0, 0, NSEC_PER_SEC / 2, 3);
		end(&house, 0, 0);
		begin(&house, 2);
		if (!lacks)
			count_cycles(&house);
		if (lacks)
			ran(&house, 1, 0, NSEC_PER_SEC / 2);
		else
			ran_at(&house, 1, 0, NSEC_PER_SEC / 2, 1);
		end(&house, 40, 0);
		assert_int_equal(joules(&house, 0, 0), lacks ? 20 : 30);
		assert_int_equal(joules(&house, 1, 0), lacks ? 20 : 10);
		tear_down_house(&house);
	}
}

static void tell_once_in_ten(struct house *house)
{
	for (unsigned i = 1; i <= 10; i++) {
		begin(house, 2);
		ran(house, i > 4, 0, NSEC_PER_SEC); /* in turns: 4 s, and 6 s */
		house->is_quiet[0] = i < 10;
		end(house, 5, 0);
	}
}

/* A source that reports once in ten intervals: up all the time, and no span in nine of them. */
static void energy_of_a_slow_source_is_shared_over_its_time(void **state)
{
	(void)state;
	struct house house;

	set_up_house(&house);
	begin(&house, 2);
	end(&house, 0, 0);
	for (unsigned round = 0; round < 3; round++) {
		tell_once_in_ten(&house);
		assert_int_equal(joules(&house, 0, 0), 20 * (round + 1));
		assert_int_equal(joules(&house, 1, 0), 30 * (round + 1));
		assert_int_equal(house.books.accountant.gaps.used, 0);
	}
	tear_down_house(&house);
}

/* How busy the machine was is known of all its time. */
static void idle_power_of_a_slow_source_can_be_learned(void **state)
{
	(void)state;
	struct house house;

	set_up_house(&house);
	learn_idle_power(&house);
	begin(&house, 2);
	end(&house, 0, 0);
	tell_once_in_ten(&house);
	assert_float_equal(house.books.accountant.zones[0].learner.x_max, 1, 1e-9);
	tear_down_house(&house);
}

/* Five seconds of each container, reported four seconds later; one draws more than the other. */
static void tell_late(struct house *house)
{
	const uint64_t late_s = 4;
	uint64_t told_j[40] = { 0 };

	house->late_ns = late_s * NSEC_PER_SEC;
	house->now_ns = 100 * NSEC_PER_SEC;
	for (unsigned i = 0; i < 30; i++) {
		unsigned container = i >= 15;

		begin(house, 2);
		if (i >= 10 && i < 20) {
			ran(house, container, 0, NSEC_PER_SEC / (1 + container));
			told_j[i + late_s] = container ? 4 : 10;
		}
		end(house, told_j[i], 0);
	}
}

/* A controller that shows now what was some seconds ago. */
static void energy_reported_late_is_charged_to_earlier_work(void **state)
{
	(void)state;
	struct house house;

	set_up_house(&house);
	tell_late(&house);
	assert_int_equal(joules(&house, 0, 0), 50);
	assert_int_equal(joules(&house, 1, 0), 20);
	assert_int_equal(ledger_node_value(house.books.ledger, 0, MODE_DYNAMIC), 70000000);
	assert_int_equal(house.books.accountant.zones[0].delay_ns, house.late_ns);
	assert_int_equal(house.books.accountant.zones[0].window_ns, 0);
	assert_int_equal(house.books.accountant.zones[1].delay_ns, 0);
	tear_down_house(&house);
}

/* The power of the zone follows how busy its CPU was then. */
static void idle_power_is_learned_from_what_ran_then(void **state)
{
	(void)state;
	struct house house;

	set_up_house(&house);
	learn_idle_power(&house);
	tell_late(&house);
	assert_true(house.books.accountant.zones[0].learner.readings > 15);
	assert_float_equal(house.books.accountant.zones[0].learner.x_max, 1, 0.05);
	tear_down_house(&house);
}

/* A mean of six seconds, each second: two that work in turns have drawn the same. */
static void a_mean_is_of_what_ran_in_all_of_it(void **state)
{
	(void)state;
	struct house house;

	set_up_house(&house);
	house.window_ns = 6 * NSEC_PER_SEC;
	house.now_ns = 100 * NSEC_PER_SEC;
	for (unsigned i = 0; i < 12; i++) { /* until what ran is known as far back as that */
		begin(&house, 2);
		end(&house, 0, 0);
	}
	for (unsigned i = 0; i < 12; i++) {
		begin(&house, 2);
		ran(&house, i / 3 % 2, 0, NSEC_PER_SEC);
		end(&house, i == 5 || i == 6 ? 30 : 0, 0);
	}
	assert_int_equal(joules(&house, 0, 0), 30);
	assert_int_equal(joules(&house, 1, 0), 30);
	assert_int_equal(house.books.accountant.zones[0].window_ns, house.window_ns);
	tear_down_house(&house);
}

/* Until it is known what ran at that time, the time since the last reading stands for it. */
static void without_a_past_it_is_of_what_ran_since(void **state)
{
	(void)state;
	struct house house;

	set_up_house(&house);
	house.late_ns = 20 * NSEC_PER_SEC;
	house.now_ns = 100 * NSEC_PER_SEC;
	for (unsigned i = 0; i < 4; i++) {
		begin(&house, 2);
		ran(&house, 0, 0, NSEC_PER_SEC);
		end(&house, 10, 0);
	}
	assert_int_equal(joules(&house, 0, 0), 30);
	tear_down_house(&house);
}

static void sleep_in_a_gap_is_of_nothing(void **state)
{
	(void)state;
	struct house house;
	const struct ledger *ledger;

	set_up_house(&house);
	ledger = house.books.ledger;
	begin(&house, 2);
	end(&house, 0, 0);
	house.books.status[0].state = ZONE_STALLED;
	house.asleep_ns = 2 * NSEC_PER_SEC;
	begin(&house, 2);
	ran(&house, 0, 0, NSEC_PER_SEC);
	end(&house, 30, 9);
	house.asleep_ns = 0;
	house.books.status[0].state = ZONE_UP;
	begin(&house, 2);
	end(&house, 10, 9);
	assert_int_equal(joules(&house, 0, 0), 20); /* of 40 J in 4 s; it slept for 2 */
	assert_int_equal(ledger_node_value(ledger, 0, MODE_DYNAMIC), 40000000);
	assert_int_equal(
		ledger_unattributed_value(ledger, 0, MODE_DYNAMIC, UNATTRIBUTED_NO_ACTIVITY),
		20000000);
	tear_down_house(&house);
}

/* As of a file that is removed and written again: the counter in it has gone on. */
static void a_zone_that_comes_back_with_its_counter_had_a_gap(void **state)
{
	(void)state;
	struct house house;

	set_up_house(&house);
	begin(&house, 2);
	end(&house, 0, 0);
	house.books.status[0].state = ZONE_ABSENT;
	begin(&house, 2);
	ran(&house, 0, 0, NSEC_PER_SEC);
	end(&house, 30, 9);
	house.books.status[0].state = ZONE_UP;
	begin(&house, 2);
	ran(&house, 1, 0, NSEC_PER_SEC);
	end(&house, 10, 9);
	assert_int_equal(joules(&house, 0, 0), 20);
	assert_int_equal(joules(&house, 1, 0), 20);
	assert_int_equal(house.books.accountant.gaps.used, 0);
	tear_down_house(&house);
}

/* The work of all that time is not kept: nothing that runs at the end is charged for it. */
static void a_zone_that_was_gone_for_long_charges_nothing_for_it(void **state)
{
	(void)state;
	struct house house;
	const struct ledger *ledger;

	set_up_house(&house);
	ledger = house.books.ledger;
	begin(&house, 2);
	end(&house, 0, 0);
	house.books.status[0].state = ZONE_ABSENT;
	for (uint64_t second = 0; second < 100; second++) {
		begin(&house, 2);
		ran(&house, 0, 0, NSEC_PER_SEC);
		end(&house, 10, 9);
		assert_int_equal(house.books.accountant.gaps.used, second <= 60);
	}
	house.books.status[0].state = ZONE_UP;
	begin(&house, 2);
	ran(&house, 1, 0, NSEC_PER_SEC);
	end(&house, 10, 9);
	assert_int_equal(joules(&house, 0, 0), 0);
	assert_int_equal(joules(&house, 1, 0), 0);
	assert_int_equal(ledger_node_value(ledger, 0, MODE_DYNAMIC), 1010000000);
	assert_int_equal(
		ledger_unattributed_value(ledger, 0, MODE_DYNAMIC, UNATTRIBUTED_NO_ACTIVITY),
		1010000000);
	begin(&house, 2); /* and it goes on */
	ran(&house, 1, 0, NSEC_PER_SEC);
	end(&house, 10, 9);
	assert_int_equal(joules(&house, 1, 0), 10);
	tear_down_house(&house);
}

/* A zone that was never read waits for nothing: its first report covers no gap. */
static void a_zone_that_fails_from_the_first_has_no_gap(void **state)
{
	(void)state;
	struct house house;

	set_up_house(&house);
	house.books.status[0].state = ZONE_ERROR;
	for (unsigned i = 0; i < 3; i++) {
		begin(&house, 2);
		end(&house, 0, 9);
		assert_int_equal(house.books.accountant.gaps.used, 0);
	}
	tear_down_house(&house);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_gap_is_what_ran_in_it),
		cmocka_unit_test(a_gap_has_one_rule),
		cmocka_unit_test(what_is_late_has_one_rule),
		cmocka_unit_test(energy_of_a_slow_source_is_shared_over_its_time),
		cmocka_unit_test(idle_power_of_a_slow_source_can_be_learned),
		cmocka_unit_test(energy_reported_late_is_charged_to_earlier_work),
		cmocka_unit_test(idle_power_is_learned_from_what_ran_then),
		cmocka_unit_test(a_mean_is_of_what_ran_in_all_of_it),
		cmocka_unit_test(without_a_past_it_is_of_what_ran_since),
		cmocka_unit_test(sleep_in_a_gap_is_of_nothing),
		cmocka_unit_test(a_zone_that_comes_back_with_its_counter_had_a_gap),
		cmocka_unit_test(a_zone_that_was_gone_for_long_charges_nothing_for_it),
		cmocka_unit_test(a_zone_that_fails_from_the_first_has_no_gap),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
