// SPDX-License-Identifier: Apache-2.0
/* Questions that a ledger and a publisher answer, interval by interval. */
#include "explain/explain_round.h"

#include <errno.h>
#include <stdio.h>

#include "../snapshot/stage.h"
#include "base/macro.h"
#include "base/strbuf.h"
#include "explain/explain_print.h"

#define NOW_MS 1795383047451LL

struct asked {
	struct explain_desk *desk;
	struct explain_round round;
	struct publisher_options options;
	char text[8192];
};

/* Explains @target in the interval that has begun, which is published; the next begins. */
static const struct explain_answer *ask(struct asked *a, struct stage *s, const char *target,
					int result, uint64_t later_s)
{
	const struct explain_times times = { .now_ns = s->now_s * SECOND_NS,
					     .boottime_ns = 100 * SECOND_NS,
					     .now_ms = NOW_MS,
					     .span_ns = SECOND_NS };
	const struct explain_publication publication = { s->publisher, s->holder, &a->options,
							 result };
	const struct explain_answer *answer = NULL;
	CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT;
	uint64_t now_ns = s->now_s * SECOND_NS;

	assert_int_equal(explain_desk_ask(a->desk, target, now_ns, &answer), -EAGAIN);
	explain_round_begin(&a->round, a->desk, s->ledger, &times);
	for (size_t i = 0; i < a->round.found_count; i++)
		a->round.found[i]->zone_count = 1;
	explain_round_book(&a->round, s->ledger);
	publish(s, later_s);
	explain_round_end(&a->round, a->desk, &publication, now_ns);
	assert_int_equal(explain_desk_ask(a->desk, target, now_ns, &answer), 0);
	explain_print(answer, &out);
	assert_int_equal(strbuf_error(&out), 0);
	(void)snprintf(a->text, sizeof(a->text), "%s", out.data);
	return answer;
}

static void open_asked(struct asked *a, struct stage *s, const struct publisher_options *options)
{
	*a = (struct asked){ .options = *options };
	open_stage(s, options);
	assert_int_equal(explain_desk_new(&a->desk), 0);
}

static void close_asked(struct asked *a, struct stage *s)
{
	explain_desk_free(a->desk);
	close_stage(s);
}

static void another_process_with_the_pid_is_not_shown(void **state)
{
	const struct publisher_options options = default_options();
	const struct explain_answer *answer;
	struct stage s;
	struct asked a;

	(void)state;
	open_asked(&a, &s, &options);
	ledger_end_process(s.ledger, use(&s, 77, 1, "cron", 5000));
	publish(&s, 1);
	(void)use(&s, 77, 2, "cron", 300); /* the other's last value has to be seen before */
	answer = ask(&a, &s, "77", 0, 100);
	assert_int_equal(answer->series, EXPLAIN_IN_OTHER);
	assert_int_equal(answer->explanation.account[0].shown_uj[MODE_DYNAMIC], 0);
	assert_int_equal(answer->counts_uj, 300);
	assert_non_null(strstr(a.text, "still kept"));
	(void)use(&s, 77, 2, "cron", 300);
	answer = ask(&a, &s, "77", 0, 100);
	assert_int_equal(answer->series, EXPLAIN_SETTLES);
	(void)use(&s, 77, 2, "cron", 50);
	answer = ask(&a, &s, "77", 0, 1);
	assert_int_equal(answer->series, EXPLAIN_SHOWN);
	assert_int_equal(answer->explanation.account[0].total_uj[MODE_DYNAMIC], 650);
	assert_int_equal(answer->explanation.account[0].shown_uj[MODE_DYNAMIC], 350);
	assert_non_null(strstr(a.text, "used before this series began"));
	close_asked(&a, &s);
}

/* Merged, it needs min_uj again; back again, a part of it is retired. */
static void a_merged_process_starts_over(void **state)
{
	struct publisher_options options = default_options();
	const struct explain_answer *answer;
	struct stage s;
	struct asked a;

	(void)state;
	options.max_rows = OWNER_ROWS + 1;
	open_asked(&a, &s, &options);
	(void)use(&s, 1, 1, "small", 500);
	publish(&s, 100);
	(void)use(&s, 2, 1, "large", 600);
	publish(&s, 1);
	(void)use(&s, 1, 1, "small", 60);
	answer = ask(&a, &s, "1", 0, 1);
	assert_int_equal(answer->series, EXPLAIN_IN_OTHER);
	assert_int_equal(answer->counts_uj, 60);
	assert_non_null(strstr(a.text, "60 µJ of its energy count"));
	assert_non_null(strstr(a.text, "earlier series"));
	(void)use(&s, 1, 1, "small", 50);
	answer = ask(&a, &s, "1", 0, 1);
	assert_int_equal(answer->counts_uj, 110);
	assert_non_null(strstr(a.text, "--metrics.max-series"));
	close_asked(&a, &s);
}

static void what_counted_for_a_zone_that_ended_earns_nothing(void **state)
{
	const struct publisher_options options = default_options();
	const struct explain_answer *answer;
	struct stage s;
	struct asked a;

	(void)state;
	open_asked(&a, &s, &options);
	ledger_end_zone(s.ledger, 0);
	(void)use(&s, 1, 1, "load", 500);
	answer = ask(&a, &s, "1", 0, 1);
	assert_int_equal(answer->series, EXPLAIN_IN_OTHER);
	assert_int_equal(answer->counts_uj, 0);
	close_asked(&a, &s);
}

static void what_has_ended_gets_no_series_any_more(void **state)
{
	const struct publisher_options options = default_options();
	const struct explain_answer *answer;
	struct stage s;
	struct asked a;

	(void)state;
	open_asked(&a, &s, &options);
	ledger_end_process(s.ledger, use(&s, 1, 1, "short", 60));
	answer = ask(&a, &s, "1", 0, 1);
	assert_int_equal(answer->series, EXPLAIN_IN_OTHER);
	assert_true(answer->is_gone);
	assert_non_null(strstr(a.text, "the process has ended, and its series has expired"));
	close_asked(&a, &s);
}

static void an_interval_that_is_not_published_is_not_compared(void **state)
{
	const struct publisher_options options = default_options();
	const struct explain_answer *answer;
	struct stage s;
	struct asked a;

	(void)state;
	open_asked(&a, &s, &options);
	(void)use(&s, 1, 1, "load", 500);
	publish(&s, 1);
	(void)use(&s, 1, 1, "load", 500);
	answer = ask(&a, &s, "1", -ENOMEM, 1);
	assert_int_equal(answer->series, EXPLAIN_UNPUBLISHED);
	assert_int_equal(answer->sequence, 0);
	assert_non_null(strstr(a.text, "could not be published"));
	assert_null(strstr(a.text, "shown, µJ"));
	close_asked(&a, &s);
}

static void containers_have_theirs(void **state)
{
	const struct publisher_options options = default_options();
	struct stage s;
	struct asked a;

	(void)state;
	open_asked(&a, &s, &options);
	(void)use(&s, 1, 1, "load", 50);
	assert_int_equal(ask(&a, &s, "system_processes", 0, 1)->series, EXPLAIN_SHOWN);
	assert_int_equal(ask(&a, &s, "namespace:system", 0, 1)->series, EXPLAIN_SHOWN);
	close_asked(&a, &s);
}

/* The pass looked at the clock before it. */
static void a_process_may_start_after_the_clock_was_read(void **state)
{
	const struct publisher_options options = default_options();
	struct stage s;
	struct asked a;

	(void)state;
	open_asked(&a, &s, &options);
	(void)use(&s, 1, 100 * SECOND_NS + SECOND_NS / 1000, "young", 50);
	(void)use(&s, 2, 99 * SECOND_NS, "old", 50);
	assert_int_equal(ask(&a, &s, "1", 0, 1)->start_ms, NOW_MS + 1);
	assert_int_equal(ask(&a, &s, "2", 0, 1)->start_ms, NOW_MS - 1000);
	close_asked(&a, &s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_process_with_the_pid_is_not_shown),
		cmocka_unit_test(a_merged_process_starts_over),
		cmocka_unit_test(what_counted_for_a_zone_that_ended_earns_nothing),
		cmocka_unit_test(what_has_ended_gets_no_series_any_more),
		cmocka_unit_test(an_interval_that_is_not_published_is_not_compared),
		cmocka_unit_test(containers_have_theirs),
		cmocka_unit_test(a_process_may_start_after_the_clock_was_read),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
