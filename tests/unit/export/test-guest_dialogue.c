// SPDX-License-Identifier: Apache-2.0
#include "export/guests/guest_dialogue.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define GET "GET /metrics/XML\n\n"
#define ANSWER                                                                                     \
	"<metrics>\n<metric type='real64' context='vm' "                                           \
	"unit='J'><name>EnergyConsumedPackage</name>"                                              \
	"<value>12.000034</value></metric>\n"                                                      \
	"<metric type='string' context='vm'><name>EnergyEpoch</name>"                              \
	"<value>0000000000000001</value></metric>\n"                                               \
	"<metric type='uint64' context='vm'><name>EnergySequence</name>"                           \
	"<value>1</value></metric>\n"                                                              \
	"<metric type='real64' context='vm' unit='s'><name>TotalCPUTime</name>"                    \
	"<value>0.750000</value></metric>\n</metrics>\n\n"

struct stage {
	int epoll_fd, guest_fd; /* the guest's end */
	struct guest guest;
	struct guest_counts counts;
};

static void open_stage(struct stage *stage)
{
	const struct passthrough_record record = {
		.epoch = 1,
		.sequence = 1,
		.cpu_time_us = 750000,
		.flags = PASSTHROUGH_IDLE,
		.zone_count = 1,
		.zones = { { ZONE_PACKAGE, QUALITY_MEASURED, 0, 12000000, 34 } },
	};
	int fds[2];

	*stage = (struct stage){ .epoll_fd = epoll_create1(EPOLL_CLOEXEC) };
	stage->guest.record_size = passthrough_record_write(&record, stage->guest.record);
	assert_true(stage->guest.record_size > 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	stage->guest_fd = fds[0];
	assert_non_null(
		guest_dialogue_open(stage->epoll_fd, fds[1], &stage->guest, &stage->counts));
}

static void close_stage(struct stage *stage)
{
	if (stage->guest.dialogue)
		guest_dialogue_close(stage->guest.dialogue);
	assert_int_equal(stage->counts.connected, 0);
	(void)close(stage->guest_fd);
	(void)close(stage->epoll_fd);
}

/* Handles events until there are none. */
static void serve(struct stage *stage)
{
	struct epoll_event event;

	while (epoll_wait(stage->epoll_fd, &event, 1, 0) == 1 &&
	       guest_dialogue_handle(event.data.ptr, event.events))
		;
}

static void say(struct stage *stage, const char *text)
{
	assert_int_equal(write(stage->guest_fd, text, strlen(text)), strlen(text));
	serve(stage);
}

static void expect(struct stage *stage, const char *text)
{
	char got[4096] = "";
	ssize_t n = read(stage->guest_fd, got, sizeof(got) - 1);

	if (n < 0)
		assert_int_equal(errno, EAGAIN);
	assert_string_equal(got, text);
}

static void a_request_gets_the_machines_own_energy(void **state)
{
	struct stage stage;

	open_stage(&stage);
	say(&stage, GET);
	expect(&stage, ANSWER);
	say(&stage, "GET /met");
	expect(&stage, "");
	say(&stage, "rics/XML\r\n\r\n");
	expect(&stage, ANSWER);
	assert_int_equal(stage.counts.records, 2);
	assert_int_equal(stage.counts.ignored, 0);
	close_stage(&stage);
}

static void without_a_record_there_are_no_metrics(void **state)
{
	struct stage stage;

	open_stage(&stage);
	stage.guest.record_size = 0;
	say(&stage, GET);
	expect(&stage, "<metrics>\n</metrics>\n\n");
	close_stage(&stage);
}

static void other_lines_are_ignored(void **state)
{
	struct stage stage;

	open_stage(&stage);
	say(&stage, "GET /metrics/XML?vm=other\n\nGET /\n\nget /metrics/xml\n\n");
	say(&stage,
	    "GET /metrics/XMLGET /metrics/XMLGET /metrics/XMLGET /metrics/XMLGET /metrics/XML\n");
	expect(&stage, "");
	assert_int_equal(stage.counts.ignored, 4);
	say(&stage, GET);
	expect(&stage, ANSWER);
	close_stage(&stage);
}

static void garbage_is_read_up_to_a_limit(void **state)
{
	char garbage[2 * GUEST_INPUT_MAX];
	struct stage stage;

	open_stage(&stage);
	memset(garbage, 'x', sizeof(garbage));
	assert_int_equal(write(stage.guest_fd, garbage, sizeof(garbage)), sizeof(garbage));
	serve(&stage);
	assert_int_equal(stage.guest.dialogue->input_left, 0);
	assert_int_equal(stage.guest.dialogue->events, 0);
	assert_true(guest_dialogue_begin(stage.guest.dialogue)); /* an interval later */
	serve(&stage);
	assert_true(guest_dialogue_begin(stage.guest.dialogue));
	say(&stage, "\n" GET);
	expect(&stage, ANSWER);
	close_stage(&stage);
}

static void a_guest_that_only_asks_costs_one_answer(void **state)
{
	char got[64 * 1024];
	struct stage stage;
	ssize_t n;

	open_stage(&stage);
	for (int i = 0; i < 100; i++)
		assert_int_equal(write(stage.guest_fd, GET, strlen(GET)), strlen(GET));
	serve(&stage);
	n = read(stage.guest_fd, got, sizeof(got));
	assert_int_equal(n, GUEST_ANSWERS * strlen(ANSWER));
	assert_int_equal(stage.guest.dialogue->events, 0);
	assert_true(guest_dialogue_begin(stage.guest.dialogue));
	serve(&stage);
	n = read(stage.guest_fd, got, sizeof(got));
	assert_int_equal(n, GUEST_ANSWERS * strlen(ANSWER));
	close_stage(&stage);
}

static void a_guest_that_leaves_is_forgotten(void **state)
{
	struct stage stage;

	open_stage(&stage);
	assert_int_equal(shutdown(stage.guest_fd, SHUT_RDWR), 0);
	serve(&stage);
	assert_null(stage.guest.dialogue);
	close_stage(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_gets_the_machines_own_energy),
		cmocka_unit_test(without_a_record_there_are_no_metrics),
		cmocka_unit_test(other_lines_are_ignored),
		cmocka_unit_test(garbage_is_read_up_to_a_limit),
		cmocka_unit_test(a_guest_that_only_asks_costs_one_answer),
		cmocka_unit_test(a_guest_that_leaves_is_forgotten),
	};

	return unit_run(tests);
}
