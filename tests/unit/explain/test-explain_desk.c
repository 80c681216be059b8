// SPDX-License-Identifier: Apache-2.0
#include "explain/explain_desk.h"

#include "tests/unit/unit.h"

#define SECOND 1000000000ULL

static struct explain_desk *new_desk(void)
{
	struct explain_desk *desk = NULL;

	assert_int_equal(explain_desk_new(&desk), 0);
	return desk;
}

/* The loop answers what there is; returns how many. */
static size_t answer_all(struct explain_desk *desk, uint64_t now_ns)
{
	struct explain_answer *taken[EXPLAIN_AT_ONCE];
	size_t count = explain_desk_take(desk, taken);

	for (size_t i = 0; i < count; i++)
		taken[i]->pid = 42;
	explain_desk_give(desk, now_ns);
	return count;
}

static void a_question_is_answered_once(void **state)
{
	const struct explain_answer *answer = NULL;
	struct explain_desk *desk = new_desk();

	assert_int_equal(answer_all(desk, 0), 0);
	assert_int_equal(explain_desk_ask(desk, "4711", SECOND, &answer), -EAGAIN);
	assert_int_equal(explain_desk_ask(desk, "4711", SECOND, &answer), -EAGAIN);
	assert_int_equal(answer_all(desk, SECOND), 1);
	assert_int_equal(explain_desk_ask(desk, "4711", SECOND + 1, &answer), 0);
	assert_string_equal(answer->target, "4711");
	assert_int_equal(answer->pid, 42);
	/* It stands for a second, and is then of an interval that is over. */
	assert_int_equal(explain_desk_ask(desk, "4711", 2 * SECOND - 1, &answer), 0);
	assert_int_equal(explain_desk_ask(desk, "4711", 2 * SECOND, &answer), -EAGAIN);
	explain_desk_free(desk);
}

static void an_answer_waits_for_what_asked(void **state)
{
	const struct explain_answer *answer = NULL;
	struct explain_desk *desk = new_desk();

	assert_int_equal(explain_desk_ask(desk, "a", 0, &answer), -EAGAIN);
	assert_int_equal(answer_all(desk, SECOND), 1);
	assert_int_equal(explain_desk_ask(desk, "a", 9 * SECOND, &answer), 0);
	explain_desk_free(desk);
}

static void what_asked_and_left_is_forgotten(void **state)
{
	const struct explain_answer *answer = NULL;
	struct explain_desk *desk = new_desk();
	char name[16];

	for (unsigned i = 0; i < EXPLAIN_SLOTS; i++) {
		(void)snprintf(name, sizeof(name), "p%u", i);
		assert_int_equal(explain_desk_ask(desk, name, 0, &answer), -EAGAIN);
	}
	assert_int_equal(explain_desk_ask(desk, "one more", SECOND, &answer), -EBUSY);
	assert_int_equal(explain_desk_ask(desk, "p1", 9 * SECOND, &answer), -EAGAIN);
	assert_int_equal(explain_desk_ask(desk, "one more", EXPLAIN_GONE_NS, &answer), -EAGAIN);
	assert_int_equal(answer_all(desk, EXPLAIN_GONE_NS),
			 2); /* and "p1", which was asked again */
	explain_desk_free(desk);
}

static void what_is_being_answered_is_the_loops(void **state)
{
	const struct explain_answer *answer = NULL;
	struct explain_answer *taken[EXPLAIN_AT_ONCE];
	struct explain_desk *desk = new_desk();

	assert_int_equal(explain_desk_ask(desk, "a", 0, &answer), -EAGAIN);
	assert_int_equal(explain_desk_take(desk, taken), 1);
	assert_int_equal(explain_desk_take(desk, taken), 0);
	assert_int_equal(explain_desk_ask(desk, "a", 100 * SECOND, &answer), -EAGAIN);
	taken[0]->pid = 7; /* still there */
	explain_desk_give(desk, 100 * SECOND);
	assert_int_equal(explain_desk_ask(desk, "a", 100 * SECOND, &answer), 0);
	assert_int_equal(answer->pid, 7);
	explain_desk_free(desk);
}

/* An interval answers few, in the order in which they came: whatever asks again waits no longer. */
static void the_loop_answers_few_at_once(void **state)
{
	const struct explain_answer *answer = NULL;
	struct explain_desk *desk = new_desk();
	char name[16];

	for (unsigned i = 0; i < EXPLAIN_SLOTS; i++) {
		(void)snprintf(name, sizeof(name), "p%u", i);
		assert_int_equal(explain_desk_ask(desk, name, 0, &answer), -EAGAIN);
	}
	assert_int_equal(answer_all(desk, SECOND), EXPLAIN_AT_ONCE);
	assert_int_equal(explain_desk_ask(desk, "p0", SECOND, &answer), 0);
	assert_int_equal(explain_desk_ask(desk, "p1", SECOND, &answer), 0);
	assert_int_equal(explain_desk_ask(desk, "p2", SECOND, &answer), -EAGAIN);
	/* In the places of those that were fetched: they are the last. */
	assert_int_equal(explain_desk_ask(desk, "late", 2 * SECOND, &answer), -EAGAIN);
	assert_int_equal(answer_all(desk, 2 * SECOND), EXPLAIN_AT_ONCE);
	assert_int_equal(explain_desk_ask(desk, "late", 2 * SECOND, &answer), -EAGAIN);
	assert_int_equal(explain_desk_ask(desk, "p3", 2 * SECOND, &answer), 0);
	explain_desk_free(desk);
}

static void a_long_question_is_refused(void **state)
{
	const struct explain_answer *answer = NULL;
	struct explain_desk *desk = new_desk();
	char name[EXPLAIN_TARGET_MAX + 1];

	memset(name, 'a', sizeof(name));
	name[EXPLAIN_TARGET_MAX] = '\0';
	assert_int_equal(explain_desk_ask(desk, name, 0, &answer), -ENAMETOOLONG);
	name[EXPLAIN_TARGET_MAX - 1] = '\0';
	assert_int_equal(explain_desk_ask(desk, name, 0, &answer), -EAGAIN);
	explain_desk_free(desk);
	explain_desk_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_question_is_answered_once),
		cmocka_unit_test(an_answer_waits_for_what_asked),
		cmocka_unit_test(what_asked_and_left_is_forgotten),
		cmocka_unit_test(what_is_being_answered_is_the_loops),
		cmocka_unit_test(the_loop_answers_few_at_once),
		cmocka_unit_test(a_long_question_is_refused),
	};

	return unit_run(tests);
}
