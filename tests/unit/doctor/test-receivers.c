// SPDX-License-Identifier: Apache-2.0
#include "doctor/peers/doctor_receivers.h"
#include "export/send/receivers_page.h"
#include "tests/unit/unit.h"

#define NOW_MS 1800000000000LL

/* The page is the exporter's own. */
static struct findings *read_board(struct send_board *board)
{
	struct findings *findings = calloc(1, sizeof(*findings));
	struct strbuf page = STRBUF_INIT;

	assert_non_null(findings);
	assert_int_equal(receivers_page(board, NOW_MS, &page), 0);
	assert_int_equal(doctor_receivers_read(findings, page.data, page.len), 0);
	assert_int_equal(findings->count, board->count);
	strbuf_release(&page);
	return findings;
}

static struct send_receiver *add(struct send_board *board)
{
	struct send_receiver *receiver =
		send_board_add(board, "https://metrics.example/api/v1/write?key=secret");

	send_speaks(receiver, "remote write 2.0");
	return receiver;
}

static void test_all_was_accepted(void **state)
{
	struct send_board board = { .count = 0 };
	struct send_receiver *receiver = add(&board);
	CLEANUP_FREE struct findings *findings = NULL;

	receiver->sent = 1200;
	receiver->last_success_ms = NOW_MS - 3000;
	receiver->last_status = 204;
	findings = read_board(&board);
	assert_int_equal(findings->list[0].level, FINDING_OK);
	assert_string_equal(findings->list[0].text,
			    "https://metrics.example/api/v1/write: 1200 samples were accepted by "
			    "remote write 2.0, the last 3 s ago, none was lost");
}

static void test_nothing_gets_through(void **state)
{
	struct send_board board = { .count = 0 };
	struct send_receiver *receiver = add(&board);
	CLEANUP_FREE struct findings *findings = NULL;

	receiver->refused = 40;
	receiver->retries = 2;
	receiver->queue_bytes = 3145;
	receiver->oldest_ms = NOW_MS - 42000;
	receiver->last_status = 401;
	send_failed(receiver, "HTTP 401: no \"token\"", NOW_MS - 7000);
	findings = read_board(&board);
	assert_int_equal(findings->list[0].level, FINDING_FIX);
	assert_string_equal(findings->list[0].text,
			    "https://metrics.example/api/v1/write: 0 samples were accepted by "
			    "remote write 2.0, 40 refused, 2 requests were sent again, 3145 bytes "
			    "wait, the oldest for 42 s; the last failure, 7 s ago: HTTP 401: no "
			    "\"token\"");
	assert_non_null(strstr(findings->list[0].fix, "password file"));
}

/* A failure that is over is shown while it is fresh, and asks for nothing later. */
static void test_a_failure_that_is_over(void **state)
{
	struct send_board board = { .count = 0 };
	struct send_receiver *receiver = add(&board);
	CLEANUP_FREE struct findings *findings = NULL;

	receiver->sent = 5;
	receiver->last_success_ms = NOW_MS - 1000;
	receiver->clock_steps = 8;
	receiver->last_status = 200;
	send_failed(receiver, "HTTP 503", NOW_MS - 60000);
	findings = read_board(&board);
	assert_int_equal(findings->list[0].level, FINDING_NOTE);
	assert_non_null(strstr(findings->list[0].text, "the clock was set back 8 times"));
	send_failed(receiver, "HTTP 503", NOW_MS - 600000);
	free(findings);
	findings = read_board(&board);
	assert_int_equal(findings->list[0].level, FINDING_OK);
}

static void test_each_loss_has_words(void **state)
{
	struct send_board board = { .count = 0 };
	struct send_receiver *receiver = add(&board);
	CLEANUP_FREE struct findings *findings = NULL;

	receiver->refused = 1;
	receiver->rejected = 2;
	receiver->dropped_full = 3;
	receiver->dropped_disk = 5;
	receiver->dropped_old = 4;
	receiver->dropped_damaged = 6;
	receiver->dropped_replaced = 7;
	receiver->dropped_large = 8;
	findings = read_board(&board);
	assert_non_null(strstr(findings->list[0].text,
			       ", 1 refused, 2 rejected, 3 dropped because the queue was full, 5 "
			       "dropped because the disk of the queue did not respond, 4 "
			       "dropped because they were too old, 6 lost with a damaged file, 7 "
			       "replaced by newer ones, 8 in requests that were too large"));
}

static void test_other_answers_are_refused(void **state)
{
	CLEANUP_FREE struct findings *findings = calloc(1, sizeof(*findings));
	static const char *const pages[] = { "", "{", "[]", "{\"receivers\":{}}" };

	for (size_t i = 0; i < ARRAY_SIZE(pages); i++)
		assert_int_equal(doctor_receivers_read(findings, pages[i], strlen(pages[i])),
				 -EINVAL);
	assert_int_equal(doctor_receivers_read(findings, "{\"receivers\":[1,{}]}", 20), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_was_accepted),
		cmocka_unit_test(test_nothing_gets_through),
		cmocka_unit_test(test_a_failure_that_is_over),
		cmocka_unit_test(test_each_loss_has_words),
		cmocka_unit_test(test_other_answers_are_refused),
	};

	return unit_run(tests);
}
