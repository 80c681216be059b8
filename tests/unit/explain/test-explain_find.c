// SPDX-License-Identifier: Apache-2.0
#include "explain/explain_find.h"

#include <stdio.h>
#include <string.h>

#include "../attribution/new_ledger.h"
#include "base/macro.h"

#define ID_WEB "3f2a91c04b1e55aa00000000000000000000000000000000000000000000aaaa"
#define ID_DB  "3f2b91c04b1e55aa00000000000000000000000000000000000000000000bbbb"

struct house {
	struct ledger *ledger;
	uint32_t web, unit;
};

static uint32_t enter(struct ledger *ledger, const char *id, const char *name, const char *space,
		      const char *pod)
{
	const struct test_owner owner = {
		.names.text = { [LABEL_CONTAINER_ID] = id,
				[LABEL_CONTAINER_NAME] = name,
				[LABEL_NAMESPACE] = space,
				[LABEL_POD_NAME] = pod,
				[LABEL_POD_ID] = strcmp(space, "system") == 0 ? "" : pod },
	};

	return enter_owner(ledger, &owner);
}

static int set_up(void **state)
{
	static struct house house;
	uint32_t db;

	house.ledger = new_ledger(64, 16, 1);
	ledger_begin(house.ledger, 1);
	house.web = enter(house.ledger, ID_WEB, "web", "shop", "checkout-7d9f");
	db = enter(house.ledger, ID_DB, "db", "shop", "store-0");
	house.unit = enter(house.ledger, "nginx.service", "nginx.service", "system", "nginx");
	(void)ledger_process(house.ledger, 4711, 10, "stress", house.web);
	(void)ledger_process(house.ledger, 12, 10, "postgres", db);
	(void)ledger_process(house.ledger, 13, 10, "nginx", house.unit);
	ledger_close(house.ledger);
	*state = &house;
	return 0;
}

static int tear_down(void **state)
{
	ledger_free(((struct house *)*state)->ledger);
	return 0;
}

static const struct explain_answer *find(const struct house *house, const char *target)
{
	static struct explain_answer answer;

	memset(&answer, 0, sizeof(answer));
	(void)snprintf(answer.target, sizeof(answer.target), "%s", target);
	explain_find(house->ledger, &answer);
	return &answer;
}

static void finds_by_what_people_type(void **state)
{
	static const struct {
		const char *target;
		enum level level;
		const char *container;
	} cases[] = {
		{ "4711", LEVEL_PROCESS, ID_WEB },
		{ "pid:4711", LEVEL_PROCESS, ID_WEB },
		{ ID_WEB, LEVEL_CONTAINER, ID_WEB },
		{ "3f2a", LEVEL_CONTAINER, ID_WEB },
		{ "web", LEVEL_CONTAINER, ID_WEB },
		{ "shop/db", LEVEL_CONTAINER, ID_DB },
		{ "nginx.service", LEVEL_CONTAINER, "nginx.service" },
		{ "nginx", LEVEL_CONTAINER, "nginx.service" },
		{ "checkout-7d9f", LEVEL_POD, "" },
		{ "shop/store-0", LEVEL_POD, "" },
		{ "pod:chec", LEVEL_POD, "" },
		{ "shop", LEVEL_NAMESPACE, "" },
		{ "namespace:system", LEVEL_NAMESPACE, "" },
		{ "postgres", LEVEL_PROCESS, ID_DB },
		{ "pid:nginx", LEVEL_PROCESS, "nginx.service" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct explain_answer *answer = find(*state, cases[i].target);

		assert_int_equal(answer->result, EXPLAIN_FOUND);
		assert_int_equal(answer->explanation.level, cases[i].level);
		assert_string_equal(answer->names[LABEL_CONTAINER_ID], cases[i].container);
	}
}

static void what_is_not_there_is_not_found(void **state)
{
	static const char *const targets[] = {
		"4712",    "0",     "",        "4294967296", "ngin",
		"we",      "04711", "pid:012", "pid:",       "container:shop",
		"pod:web", "/",     "x/web"
	};

	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		/* "ngin" begins the unit's name. */
		enum explain_result want =
			strcmp(targets[i], "ngin") == 0 ? EXPLAIN_FOUND : EXPLAIN_NOT_FOUND;

		assert_int_equal(find(*state, targets[i])->result, want);
	}
}

static void an_ambiguous_name_is_reported(void **state)
{
	const struct house *house = *state;
	uint32_t other;
	const struct explain_answer *answer = find(*state, "3f2");

	assert_int_equal(answer->result, EXPLAIN_NOT_FOUND); /* too short */
	other = enter(house->ledger, "3f2a77", "other", "shop", "other");
	assert_int_equal(find(house, "3f2a")->explanation.row, house->web); /* the living one */
	(void)ledger_process(house->ledger, 14, 10, "sleep", other);
	answer = find(house, "3f2a");
	assert_int_equal(answer->result, EXPLAIN_AMBIGUOUS);
	assert_int_equal(answer->near_count, 2);
	assert_string_equal(answer->near[0], "container web (3f2a91c04b1e55aa00000000)");
	assert_string_equal(answer->near[1], "container other (3f2a77)");
}

static void processes_with_one_command_are_listed(void **state)
{
	const struct house *house = *state;
	const struct explain_answer *answer = find(house, "ostgre");

	assert_int_equal(answer->result, EXPLAIN_NOT_FOUND);
	assert_int_equal(answer->near_count, 1);
	assert_string_equal(answer->near[0], "process 12 (postgres)");
	(void)ledger_process(house->ledger, 15, 10, "stress", house->unit);
	answer = find(house, "stress");
	assert_int_equal(answer->result, EXPLAIN_AMBIGUOUS);
	assert_int_equal(answer->near_count, 2);
	assert_string_equal(answer->near[0], "process 4711 (stress)");
	assert_string_equal(answer->near[1], "process 15 (stress)");
}

/* Another name of the same container is another row; the old one is kept for a while. */
static void a_container_by_its_newest_names(void **state)
{
	const struct house *house = *state;
	uint32_t newer;

	ledger_begin(house->ledger, 2);
	newer = enter(house->ledger, ID_WEB, "web2", "shop", "checkout-7d9f");
	assert_int_not_equal(newer, house->web);
	assert_int_equal(find(house, "3f2a")->explanation.row, newer);
	assert_int_equal(find(house, ID_WEB)->explanation.row, newer);
}

/* The old names' row, met after the newer one, is not a second container. */
static void a_newer_row_may_come_first(void **state)
{
	const struct house *house = *state;
	uint32_t first = enter(house->ledger, "gone", "gone", "shop", "gone"), old, newer;

	old = enter(house->ledger, "77aa77aa77aa", "job", "shop", "job");
	ledger_release(house->ledger, LEVEL_CONTAINER, first);
	newer = enter(house->ledger, "77aa77aa77aa", "job2", "shop", "job");
	assert_true(newer < old);
	assert_int_equal(find(house, "77aa")->result, EXPLAIN_FOUND);
	assert_int_equal(find(house, "77aa")->explanation.row, newer);
}

static void what_finds_no_room_is_counted(void **state)
{
	const struct explain_answer *answer;
	char id[16];

	for (unsigned i = 0; i < EXPLAIN_NEAR_MAX + 2; i++) {
		(void)snprintf(id, sizeof(id), "5a5a5a%u", i);
		(void)enter(((struct house *)*state)->ledger, id, "many", "shop", "many");
	}
	answer = find(*state, "5a5a");
	assert_int_equal(answer->result, EXPLAIN_AMBIGUOUS);
	assert_int_equal(answer->near_count, EXPLAIN_NEAR_MAX);
	assert_int_equal(answer->near_total, EXPLAIN_NEAR_MAX + 2);
}

static void similar_names_are_reported(void **state)
{
	const struct explain_answer *answer = find(*state, "eckout");

	assert_int_equal(answer->result, EXPLAIN_NOT_FOUND);
	assert_int_equal(answer->near_count, 1);
	assert_string_equal(answer->near[0], "pod shop/checkout-7d9f");
}

static void a_pid_that_is_used_again_is_the_living_one(void **state)
{
	const struct house *house = *state;
	const struct explain_answer *answer;

	ledger_begin(house->ledger, 2);
	(void)ledger_process(house->ledger, 4711, 20, "younger", house->unit);
	assert_string_equal(find(house, "4711")->comm, "younger");
	ledger_end_process(house->ledger, ledger_find_process(house->ledger, 4711, 20));
	answer = find(house, "4711");
	assert_string_equal(answer->comm, "stress");
	assert_false(answer->ended);
	ledger_end_process(house->ledger, ledger_find_process(house->ledger, 4711, 10));
	answer = find(house, "4711");
	assert_string_equal(answer->comm, "younger");
	assert_true(answer->ended);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(finds_by_what_people_type, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_not_there_is_not_found, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_ambiguous_name_is_reported, set_up, tear_down),
		cmocka_unit_test_setup_teardown(processes_with_one_command_are_listed, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_container_by_its_newest_names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_newer_row_may_come_first, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_finds_no_room_is_counted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(similar_names_are_reported, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_pid_that_is_used_again_is_the_living_one, set_up,
						tear_down),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
