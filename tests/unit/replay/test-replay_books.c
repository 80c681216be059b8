// SPDX-License-Identifier: Apache-2.0
#include "replay/replay_books.h"

#include "base/num.h"
#include "replay/replay_table.h"
#include "tests/unit/unit.h"

#define S NSEC_PER_SEC
#define J UJ_PER_J

struct desk {
	struct config config;
	struct replay_books *books;
	struct record record;
	struct diag diag;
	struct recorded_reading reading;
};

static int set_up(void **state)
{
	struct desk *desk = calloc(1, sizeof(*desk));

	*state = desk;
	desk->config.idle.mode = IDLE_MODE_OFF;
	return replay_books_new(&desk->config, &desk->books);
}

static int tear_down(void **state)
{
	struct desk *desk = *state;

	replay_books_free(desk->books);
	free(desk);
	return 0;
}

static int take(struct desk *desk)
{
	return replay_books_take(desk->books, &desk->record, &desk->diag);
}

static int take_zone(struct desk *desk, uint32_t index, enum zone_kind kind)
{
	desk->record = (struct record){ .type = RECORD_ZONE,
					.zone = { .index = index,
						  .zone = { .kind = kind, .instance = "0" },
						  .source = "rapl" } };
	desk->record.zone.zone.source = desk->record.zone.source;
	return take(desk);
}

static int take_owner(struct desk *desk, uint32_t id, const char *name)
{
	desk->record = (struct record){
		.type = RECORD_OWNER,
		.owner = { .id = id, .names = { .text = { [LABEL_CONTAINER_ID] = name } } }
	};
	return take(desk);
}

static int take_process(struct desk *desk, uint32_t id, uint32_t pid, uint32_t owner)
{
	desk->record =
		(struct record){ .type = RECORD_PROCESS, .process = { id, pid, pid, owner, "a" } };
	return take(desk);
}

/* One zone, and one party with half a second. */
static int take_interval(struct desk *desk, uint64_t at_s, uint64_t energy_uj, uint32_t party)
{
	static const uint64_t cpu_ns = S / 2;
	static uint32_t parties;

	parties = party;
	desk->reading = (struct recorded_reading){
		.has_span = true,
		.span = { .zone = 0,
			  .known = energy_uj > 0,
			  .from_ns = energy_uj ? (at_s - 1) * S : 0,
			  .to_ns = at_s * S,
			  .energy_uj = energy_uj },
	};
	desk->record = (struct record){ .type = RECORD_INTERVAL,
					.interval = { .time_ns = at_s * S,
						      .boottime_ns = at_s * S,
						      .length_ns = energy_uj ? S : 0,
						      .work = { .busy_ns = S / 2 },
						      .readings = &desk->reading,
						      .reading_count = 1,
						      .parties = &parties,
						      .party_count = energy_uj > 0,
						      .cpu_ns = &cpu_ns } };
	return take(desk);
}

static void begin(struct desk *desk)
{
	assert_int_equal(take_zone(desk, 0, ZONE_PACKAGE), 0);
	assert_int_equal(take_owner(desk, 3, "web"), 0);
	assert_int_equal(take_process(desk, 5, 100, 3), 0);
	assert_int_equal(take_interval(desk, 10, 0, 0), 1);
}

static uint64_t process_uj(const struct desk *desk, uint32_t id)
{
	const struct ledger *ledger = replay_books_kept(desk->books)->ledger;

	return ledger_values(
		ledger, LEVEL_PROCESS,
		replay_books_process(desk->books, id))[ledger_column(ledger, 0, MODE_DYNAMIC)];
}

static void energy_goes_to_what_ran(void **state)
{
	struct desk *desk = *state;

	begin(desk);
	assert_int_equal(take_interval(desk, 11, 7 * J, recorded_party_process(5)), 1);
	assert_int_equal(process_uj(desk, 5), 7 * J);
	assert_int_equal(take_interval(desk, 12, 2 * J, recorded_party_owner(3)), 1);
	assert_int_equal(process_uj(desk, 5), 7 * J);
	assert_int_equal(replay_books_zone(desk->books, 0)->read_uj, 9 * J);
	assert_int_equal(replay_table_imbalance_uj(desk->books), 0);
}

static void an_id_may_stand_for_another(void **state)
{
	struct desk *desk = *state;
	uint32_t before;

	begin(desk);
	assert_int_equal(take_interval(desk, 11, 7 * J, recorded_party_process(5)), 1);
	before = replay_books_process(desk->books, 5);
	assert_int_equal(take_process(desk, 5, 200, 3), 0);
	assert_int_equal(take_interval(desk, 12, 3 * J, recorded_party_process(5)), 1);
	assert_int_equal(process_uj(desk, 5), 3 * J);
	assert_true(ledger_process_at(replay_books_kept(desk->books)->ledger, before)->row.ended);
}

static void what_is_not_defined_is_refused(void **state)
{
	struct desk *desk = *state;

	assert_int_equal(take_process(desk, 0, 1, 0), -EBADMSG);
	assert_string_equal(desk->diag.text, "process 0 of owner 0, which is not defined");
	assert_int_equal(take_zone(desk, 1, ZONE_PACKAGE), -EBADMSG);
	begin(desk);
	assert_int_equal(take_interval(desk, 11, J, recorded_party_process(6)), -EBADMSG);
	assert_string_equal(desk->diag.text, "party 0 of an interval is not defined");
	assert_int_equal(take_interval(desk, 10, J, recorded_party_process(5)), -EBADMSG);
	assert_int_equal(take_zone(desk, 0, ZONE_DRAM), -EBADMSG);
	assert_int_equal(take_zone(desk, 1, ZONE_DRAM), 0);
	assert_int_equal(take_interval(desk, 12, J, recorded_party_process(5)), -EBADMSG);
	assert_string_equal(desk->diag.text, "an interval with 1 of 2 zones");
}

static void the_next_file_has_its_own_ids(void **state)
{
	struct desk *desk = *state;

	begin(desk);
	assert_int_equal(take_interval(desk, 11, 7 * J, recorded_party_process(5)), 1);
	replay_books_next_file(desk->books);
	assert_int_equal(take_interval(desk, 12, J, recorded_party_process(5)), -EBADMSG);
	assert_int_equal(take_zone(desk, 0, ZONE_PACKAGE), 0);
	assert_int_equal(take_owner(desk, 0, "web"), 0);
	assert_int_equal(take_process(desk, 1, 100, 0), 0);
	assert_int_equal(take_interval(desk, 13, 2 * J, recorded_party_process(1)), 1);
	assert_int_equal(process_uj(desk, 1), 9 * J);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(energy_goes_to_what_ran, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_id_may_stand_for_another, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_not_defined_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_next_file_has_its_own_ids, set_up, tear_down),
	};

	return unit_run(tests);
}
