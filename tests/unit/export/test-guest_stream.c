// SPDX-License-Identifier: Apache-2.0
#include "export/guests/guest_stream.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define RECORD_SIZE 300

struct stage {
	int epoll_fd, guest_fd; /* the guest's end */
	struct guest guest;
	struct guest_counts counts;
	struct guest_stream *stream;
};

/* A record whose bytes all are @number. */
static void send_record(struct stage *stage, uint8_t number)
{
	memset(stage->guest.record, number, RECORD_SIZE);
	stage->guest.record_size = RECORD_SIZE;
	if (stage->stream)
		assert_true(guest_stream_send(stage->stream));
}

static void open_stage(struct stage *stage)
{
	int fds[2];

	*stage = (struct stage){ .epoll_fd = epoll_create1(EPOLL_CLOEXEC) };
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	stage->guest_fd = fds[0];
	stage->stream = guest_stream_open(stage->epoll_fd, fds[1], &stage->guest, &stage->counts);
	assert_non_null(stage->stream);
	assert_int_equal(stage->counts.connected, 1);
}

static void close_stage(struct stage *stage)
{
	if (stage->guest.streams[0])
		guest_stream_close(stage->guest.streams[0]);
	assert_int_equal(stage->counts.connected, 0);
	if (stage->guest_fd >= 0)
		(void)close(stage->guest_fd);
	(void)close(stage->epoll_fd);
}

static void expect_record(struct stage *stage, uint8_t number)
{
	uint8_t bytes[2 * RECORD_SIZE];

	assert_int_equal(read(stage->guest_fd, bytes, sizeof(bytes)), RECORD_SIZE);
	for (size_t i = 0; i < RECORD_SIZE; i++)
		assert_int_equal(bytes[i], number);
}

static void a_guest_that_reads_gets_each_record(void **state)
{
	struct stage stage;

	open_stage(&stage);
	for (uint8_t i = 1; i < 10; i++) {
		send_record(&stage, i);
		expect_record(&stage, i);
	}
	assert_int_equal(stage.counts.records, 9);
	assert_int_equal(stage.counts.dropped, 0);
	close_stage(&stage);
}

static void a_guest_that_does_not_read_gets_one_and_then_the_newest(void **state)
{
	struct stage stage;

	open_stage(&stage);
	for (uint8_t i = 1; i < 100; i++)
		send_record(&stage, i);
	assert_int_equal(stage.counts.records, 1);
	assert_int_equal(stage.counts.dropped, 97);
	expect_record(&stage, 1);
	send_record(&stage, 100);
	expect_record(&stage, 100);
	close_stage(&stage);
}

static void a_guest_that_connects_gets_the_newest_record_at_once(void **state)
{
	struct stage stage;
	struct guest_stream *second;
	int fds[2];

	open_stage(&stage);
	send_record(&stage, 7);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	second = guest_stream_open(stage.epoll_fd, fds[1], &stage.guest, &stage.counts);
	assert_non_null(second);
	(void)close(stage.guest_fd);
	stage.guest_fd = fds[0];
	expect_record(&stage, 7);
	guest_stream_close(second);
	close_stage(&stage);
}

static void input_is_read_up_to_a_limit(void **state)
{
	char garbage[GUEST_INPUT_MAX];
	struct epoll_event event;
	struct stage stage;

	open_stage(&stage);
	memset(garbage, 'x', sizeof(garbage));
	for (int i = 0; i < 3; i++)
		assert_int_equal(write(stage.guest_fd, garbage, sizeof(garbage)), sizeof(garbage));
	assert_int_equal(epoll_wait(stage.epoll_fd, &event, 1, 0), 1);
	assert_true(guest_stream_handle(stage.stream, event.events));
	assert_int_equal(stage.stream->input_left, 0);
	assert_int_equal(epoll_wait(stage.epoll_fd, &event, 1, 0), 0);
	send_record(&stage, 1); /* an interval later */
	assert_int_equal(epoll_wait(stage.epoll_fd, &event, 1, 0), 1);
	expect_record(&stage, 1);
	close_stage(&stage);
}

static void a_guest_that_leaves_is_forgotten(void **state)
{
	struct epoll_event event;
	struct stage stage;

	open_stage(&stage);
	(void)close(stage.guest_fd);
	stage.guest_fd = -1;
	assert_int_equal(epoll_wait(stage.epoll_fd, &event, 1, 0), 1);
	assert_false(guest_stream_handle(stage.stream, event.events));
	assert_null(stage.guest.streams[0]);
	close_stage(&stage);
}

static void a_guest_has_few_connections(void **state)
{
	struct stage stage;
	int peers[GUEST_STREAMS + 1];

	open_stage(&stage);
	for (size_t i = 1; i <= GUEST_STREAMS; i++) {
		struct guest_stream *stream;
		int fds[2];

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
		peers[i] = fds[0];
		stream = guest_stream_open(stage.epoll_fd, fds[1], &stage.guest, &stage.counts);
		assert_true((stream != NULL) == (i < GUEST_STREAMS));
	}
	assert_int_equal(stage.counts.connected, GUEST_STREAMS);
	for (size_t i = 1; i < GUEST_STREAMS; i++)
		guest_stream_close(stage.guest.streams[i]);
	for (size_t i = 1; i <= GUEST_STREAMS; i++)
		(void)close(peers[i]);
	close_stage(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_guest_that_reads_gets_each_record),
		cmocka_unit_test(a_guest_that_does_not_read_gets_one_and_then_the_newest),
		cmocka_unit_test(a_guest_that_connects_gets_the_newest_record_at_once),
		cmocka_unit_test(input_is_read_up_to_a_limit),
		cmocka_unit_test(a_guest_that_leaves_is_forgotten),
		cmocka_unit_test(a_guest_has_few_connections),
	};

	return unit_run(tests);
}
