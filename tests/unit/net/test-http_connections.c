// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "net/server/http_connections.h"
#include "tests/unit/unit.h"

#define START_NS  1000000000ULL
#define MAX       16 /* 12 of them may read pages, and then 2 more wait for theirs */
#define ANSWERS   12
#define HELD      2
#define HERE      1
#define ELSEWHERE 2

/* A table with both ends of each connection; a connection's progress is what the test says. */
struct table {
	struct http_connections connections;
	struct http_connection *slots[MAX];
	int peers[MAX], fds[MAX];
	unsigned count;
};

static struct table new_table(unsigned max)
{
	struct table table = { 0 };

	assert_int_equal(http_connections_init(&table.connections, max), 0);
	return table;
}

static struct http_connection *connect_from(struct table *table, uint64_t peer, uint64_t now_ns)
{
	struct http_connection *connection;
	int pair[2];

	assert_true(table->count < MAX);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	connection = http_connections_add(&table->connections, pair[0], NULL, now_ns);
	assert_non_null(connection);
	connection->local = connection->no_tcp = true;
	connection->peer = peer;
	table->slots[table->count] = connection;
	table->fds[table->count] = pair[0];
	table->peers[table->count++] = pair[1];
	return connection;
}

static struct http_connection *reader_from(struct table *table, uint64_t peer, const void *body,
					   uint64_t now_ns)
{
	struct http_connection *connection = connect_from(table, peer, now_ns);

	http_connections_begin_answer(&table->connections, connection, body, true, now_ns);
	return connection;
}

static void takes(struct http_connection *connection, uint64_t bytes)
{
	connection->handed_bytes += bytes;
}

static void release_table(struct table *table)
{
	http_connections_release(&table->connections);
	for (unsigned i = 0; i < table->count; i++) {
		close(table->fds[i]);
		close(table->peers[i]);
	}
}

static uint64_t cuts(const struct table *table, enum http_cut why)
{
	return table->connections.cuts[why];
}

static bool is_cut(int peer)
{
	char byte;

	return recv(peer, &byte, 1, MSG_DONTWAIT) == 0;
}

static void is_bounded_and_reuses(void **state)
{
	struct http_connections connections;
	struct http_connection *a, *b;

	assert_int_equal(http_connections_init(&connections, 2), 0);
	a = http_connections_add(&connections, 100, NULL, START_NS);
	b = http_connections_add(&connections, 101, NULL, START_NS);
	assert_non_null(a);
	assert_non_null(b);
	assert_null(http_connections_add(&connections, 102, NULL, START_NS));
	assert_int_equal(http_connections_used(&connections), 2);
	http_connections_remove(&connections, a);
	assert_int_equal(http_connections_used(&connections), 1);
	assert_ptr_equal(http_connections_add(&connections, 103, NULL, START_NS), a);
	http_connections_release(&connections);
}

/* The other tests are in terms of these; what they are is what http_server.h and pages promise. */
static void times_are_what_is_promised(void **state)
{
	const uint64_t ms = 1000000;

	assert_int_equal(HTTP_REQUEST_DEADLINE_NS, 5000 * ms);
	assert_int_equal(HTTP_ANSWER_DEADLINE_NS, 60000 * ms);
	assert_int_equal(HTTP_STALL_NS, 2000 * ms);
	assert_int_equal(HTTP_PATIENCE_NS, 100 * ms);
	assert_int_equal(HTTP_YIELD_NS, 50 * ms);
	assert_int_equal(HTTP_FAIR_NS, 1000 * ms);
	assert_int_equal(HTTP_STUCK_NS, 500 * ms);
	assert_int_equal(HTTP_HOLD_NS, 1500 * ms);
}

static void cuts_at_the_deadline_of_the_phase(void **state)
{
	struct table table = new_table(4);
	struct http_connection *answering;

	(void)connect_from(&table, HERE, START_NS);
	answering = reader_from(&table, HERE, &table, START_NS);
	for (uint64_t t = START_NS; t < START_NS + HTTP_REQUEST_DEADLINE_NS;
	     t += HTTP_STALL_NS / 2) {
		takes(answering, HTTP_PROGRESS_BYTES);
		assert_int_equal(http_connections_sweep(&table.connections, t), 0);
	}
	assert_int_equal(http_connections_sweep(&table.connections, START_NS - 1), 0);
	takes(answering, HTTP_PROGRESS_BYTES);
	assert_int_equal(
		http_connections_sweep(&table.connections, START_NS + HTTP_REQUEST_DEADLINE_NS), 1);
	assert_true(is_cut(table.peers[0]));
	assert_false(is_cut(table.peers[1]));
	/* A connection that is cut already is not cut (and counted) again. */
	for (uint64_t t = START_NS + HTTP_REQUEST_DEADLINE_NS;
	     t < START_NS + HTTP_ANSWER_DEADLINE_NS; t += HTTP_STALL_NS / 2) {
		takes(answering, HTTP_PROGRESS_BYTES);
		assert_int_equal(http_connections_sweep(&table.connections, t), 0);
	}
	takes(answering, HTTP_PROGRESS_BYTES);
	assert_int_equal(
		http_connections_sweep(&table.connections, START_NS + HTTP_ANSWER_DEADLINE_NS), 1);
	assert_true(is_cut(table.peers[1]));
	assert_int_equal(cuts(&table, HTTP_CUT_REQUEST), 1);
	assert_int_equal(cuts(&table, HTTP_CUT_ANSWER), 1);
	assert_int_equal(cuts(&table, HTTP_CUT_STALLED), 0);
	release_table(&table);
}

static void cuts_who_takes_next_to_nothing(void **state)
{
	struct table table = new_table(4);
	struct http_connection *dripping, *reading;
	const uint64_t later_ns = START_NS + HTTP_STALL_NS;

	dripping = reader_from(&table, HERE, &table, START_NS);
	reading = reader_from(&table, HERE, &table, START_NS);
	takes(dripping, HTTP_PROGRESS_BYTES - 1);
	takes(reading, HTTP_PROGRESS_BYTES);
	assert_int_equal(http_connections_sweep(&table.connections, later_ns - 1), 0);
	assert_int_equal(http_connections_sweep(&table.connections, later_ns + HTTP_PATIENCE_NS),
			 1);
	assert_true(is_cut(table.peers[0]));
	assert_int_equal(cuts(&table, HTTP_CUT_STALLED), 1);
	assert_int_equal(http_connections_sweep(&table.connections, later_ns + HTTP_STALL_NS), 1);
	assert_true(is_cut(table.peers[1]));
	release_table(&table);
}

static void an_answer_restarts_the_clock(void **state)
{
	struct table table = new_table(4);
	struct http_connection *one = connect_from(&table, HERE, START_NS);

	http_connections_begin_answer(&table.connections, one, NULL, false, 5 * START_NS);
	http_connections_end_answer(&table.connections, one, 6 * START_NS);
	assert_int_equal(http_connections_sweep(&table.connections, 10 * START_NS), 0);
	assert_int_equal(http_connections_sweep(&table.connections, 11 * START_NS), 1);
	release_table(&table);
}

static void makes_room_among_the_silent_only(void **state)
{
	struct table table = new_table(4);

	(void)connect_from(&table, HERE, START_NS);
	(void)connect_from(&table, HERE, START_NS + HTTP_PATIENCE_NS);
	(void)reader_from(&table, HERE, &table, START_NS);
	assert_true(http_connections_hold(&table.connections, connect_from(&table, HERE, START_NS),
					  &table, HTTP_HOLD_NS, START_NS));
	assert_int_equal(
		http_connections_cut_silent(&table.connections, START_NS + HTTP_PATIENCE_NS), 1);
	assert_true(is_cut(table.peers[0]));
	for (int i = 1; i < 4; i++)
		assert_false(is_cut(table.peers[i]));
	assert_int_equal(cuts(&table, HTTP_CUT_SILENT), 1);
	release_table(&table);
}

/* The server has not come to it yet, which is not the peer's fault; but not for ever. */
static void a_peer_with_unread_input_is_not_silent(void **state)
{
	struct table table = new_table(4);
	char byte;

	(void)connect_from(&table, HERE, START_NS);
	assert_int_equal(write(table.peers[0], "x", 1), 1);
	assert_int_equal(
		http_connections_cut_silent(&table.connections, START_NS + HTTP_PATIENCE_NS), 0);
	assert_int_equal(
		http_connections_cut_silent(&table.connections, START_NS + HTTP_CROWDED_NS - 1), 0);
	assert_int_equal(read(table.fds[0], &byte, 1), 1);
	assert_int_equal(
		http_connections_cut_silent(&table.connections, START_NS + HTTP_CROWDED_NS - 1), 1);
	(void)connect_from(&table, HERE, START_NS);
	assert_int_equal(write(table.peers[1], "x", 1), 1);
	assert_int_equal(
		http_connections_cut_silent(&table.connections, START_NS + HTTP_CROWDED_NS), 1);
	release_table(&table);
}

/* Both ends over loopback: ret[0] is the server's. */
static void connect_tcp(int ret[static 2])
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(0x7F000001) };
	socklen_t len = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(listener, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &len), 0);
	ret[1] = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(ret[1], (struct sockaddr *)&address, len), 0);
	ret[0] = accept(listener, NULL, NULL);
	assert_true(ret[0] >= 0);
	close(listener);
}

/*
 * In a handshake the server waits from its own last bytes on. When these were sent the kernel says,
 * by the real clock: a try during which the machine stood still does not count.
 */
static void the_patience_begins_with_our_last_bytes(void **state)
{
	uint64_t begun_ns, lasted_ns;
	unsigned cut;

	do {
		struct table table = new_table(4);
		struct http_connection *slot;
		int pair[2];

		connect_tcp(pair);
		slot = http_connections_add(&table.connections, pair[0], NULL, START_NS);
		assert_non_null(slot);
		begun_ns = clock_ns(CLOCK_MONOTONIC);
		assert_int_equal(send(pair[0], "hello", 5, 0), 5);
		cut = http_connections_cut_silent(&table.connections, START_NS + HTTP_PATIENCE_NS);
		lasted_ns = clock_ns(CLOCK_MONOTONIC) - begun_ns;
		if (!cut)
			assert_int_equal(http_connections_cut_silent(&table.connections,
								     START_NS + HTTP_CROWDED_NS),
					 1);
		http_connections_release(&table.connections);
		close(pair[0]);
		close(pair[1]);
	} while (cut && lasted_ns >= HTTP_PATIENCE_NS / 2);
	assert_int_equal(cut, 0);
}

/* A request that waits for long is taken out of waiting to be asked again: it is not late then. */
static void a_request_that_waits_is_not_overdue(void **state)
{
	const uint64_t late_ns = START_NS + 2 * HTTP_REQUEST_DEADLINE_NS;
	struct table table = new_table(4);
	struct http_connection *waiting = connect_from(&table, HERE, START_NS);

	assert_true(http_connections_hold(&table.connections, waiting, waiting,
					  3 * HTTP_REQUEST_DEADLINE_NS, START_NS));
	assert_ptr_equal(http_connections_take_held(&table.connections), waiting);
	assert_int_equal(http_connections_sweep(&table.connections, late_ns), 0);
	assert_true(http_connections_hold(&table.connections, waiting, waiting,
					  3 * HTTP_REQUEST_DEADLINE_NS, late_ns));
	assert_ptr_equal(http_connections_take_held(&table.connections), waiting);
	assert_false(http_connections_hold(&table.connections, waiting, waiting,
					   3 * HTTP_REQUEST_DEADLINE_NS,
					   START_NS + 3 * HTTP_REQUEST_DEADLINE_NS));
	release_table(&table);
}

/*
 * Nor do clients that ask for small answers and do not read them, unless they still read the last.
 */
static void unread_small_answers_make_room(void **state)
{
	struct table table = new_table(4);
	struct http_connection *unread, *reading;

	unread = connect_from(&table, HERE, START_NS);
	http_connections_begin_answer(&table.connections, unread, NULL, false, START_NS);
	reading = reader_from(&table, HERE, &table, START_NS);
	http_connections_end_answer(&table.connections, reading, START_NS);
	takes(reading, HTTP_PROGRESS_BYTES);
	assert_int_equal(
		http_connections_cut_silent(&table.connections, START_NS + HTTP_PATIENCE_NS / 2),
		0);
	assert_int_equal(
		http_connections_cut_silent(&table.connections, START_NS + HTTP_PATIENCE_NS), 1);
	assert_true(is_cut(table.peers[0]));
	assert_int_equal(
		http_connections_cut_silent(&table.connections, START_NS + 2 * HTTP_PATIENCE_NS),
		1);
	assert_true(is_cut(table.peers[1]));
	release_table(&table);
}

static void the_slowest_goes_for_a_newcomer(void **state)
{
	struct table table = new_table(MAX);
	struct http_connection *newcomer;
	uint64_t now_ns = START_NS + HTTP_YIELD_NS;

	for (unsigned i = 0; i < ANSWERS - 1; i++)
		(void)reader_from(&table, HERE, &table, START_NS);
	newcomer = connect_from(&table, HERE, START_NS);
	assert_true(http_connections_room(&table.connections, newcomer, START_NS));
	(void)reader_from(&table, HERE, &table, START_NS);
	/* All have just begun: they may be as fast as any other. */
	assert_false(http_connections_room(&table.connections, newcomer, now_ns - 1));
	for (unsigned i = 0; i < ANSWERS - 1; i++)
		takes(table.slots[i], i == 3 ? HTTP_PROGRESS_BYTES - 1 : HTTP_PROGRESS_BYTES);
	takes(table.slots[ANSWERS], HTTP_PROGRESS_BYTES);
	now_ns += HTTP_YIELD_NS;
	assert_true(http_connections_room(&table.connections, newcomer, now_ns));
	for (unsigned i = 0; i < table.count; i++)
		assert_int_equal(is_cut(table.peers[i]), i == 3);
	assert_int_equal(cuts(&table, HTTP_CUT_SLOW), 1);
	/* There is room for one, the newcomer; then none is slow, until each had its time. */
	http_connections_begin_answer(&table.connections, newcomer, &table, true, now_ns);
	now_ns += HTTP_YIELD_NS - 1;
	assert_false(http_connections_room(&table.connections, newcomer, now_ns));
	for (unsigned i = 0; i < table.count; i++)
		takes(table.slots[i], HTTP_PROGRESS_BYTES);
	release_table(&table);
}

/* Where all read as well as they can, the newcomer waits a while and then the eldest goes. */
static void steady_readers_have_their_time(void **state)
{
	struct table table = new_table(MAX);
	struct http_connection *newcomer = connect_from(&table, HERE, START_NS);
	const uint64_t asked_ns = START_NS + HTTP_FAIR_NS;

	for (unsigned i = 0; i < ANSWERS; i++)
		(void)reader_from(&table, HERE, &table, START_NS + i);
	for (uint64_t t = asked_ns; t <= asked_ns + HTTP_STUCK_NS; t += HTTP_STUCK_NS / 4) {
		for (unsigned i = 1; i <= ANSWERS; i++)
			takes(table.slots[i], HTTP_PROGRESS_BYTES);
		assert_int_equal(http_connections_room(&table.connections, newcomer, t),
				 t == asked_ns + HTTP_STUCK_NS);
		if (http_connections_hold(&table.connections, newcomer, newcomer, HTTP_HOLD_NS, t))
			(void)http_connections_take_held(&table.connections);
	}
	assert_true(is_cut(table.peers[1]));
	assert_int_equal(cuts(&table, HTTP_CUT_SLOW), 1);
	release_table(&table);
}

/* However slow it is: those that have more pages do not get its place as well. */
static void a_light_address_never_gives_way_to_a_heavy_one(void **state)
{
	struct table table = new_table(MAX);
	struct http_connection *newcomer = connect_from(&table, HERE, START_NS);
	const uint64_t later_ns = START_NS + 10 * HTTP_FAIR_NS;

	(void)reader_from(&table, ELSEWHERE, &table, START_NS);
	for (unsigned i = 1; i < ANSWERS; i++)
		(void)reader_from(&table, HERE, &table, later_ns);
	assert_false(http_connections_room(&table.connections, newcomer, later_ns));
	assert_true(http_connections_room(&table.connections, newcomer, later_ns + HTTP_YIELD_NS));
	assert_false(is_cut(table.peers[1]));
	release_table(&table);
}

static void an_address_with_more_pages_gives_way(void **state)
{
	struct table table = new_table(MAX);
	struct http_connection *newcomer;

	/* The slowest is elsewhere and alone there. */
	(void)reader_from(&table, ELSEWHERE, &table, START_NS - HTTP_FAIR_NS);
	for (unsigned i = 0; i < ANSWERS - 1; i++)
		(void)reader_from(&table, HERE, &table, START_NS + i);
	newcomer = connect_from(&table, ELSEWHERE, START_NS);
	assert_true(http_connections_room(&table.connections, newcomer, START_NS + ANSWERS));
	assert_false(is_cut(table.peers[0]));
	assert_true(is_cut(table.peers[1]));
	for (unsigned i = 2; i < table.count; i++)
		assert_false(is_cut(table.peers[i]));
	release_table(&table);
}

static void no_more_wait_than_may(void **state)
{
	struct table table = new_table(MAX);
	struct http_connection *waiting[HELD + 1];

	for (unsigned i = 0; i < HELD + 1; i++)
		waiting[i] = connect_from(&table, HERE, START_NS);
	for (unsigned i = 0; i < ANSWERS; i++)
		(void)reader_from(&table, HERE, &table, START_NS + HTTP_REQUEST_DEADLINE_NS);
	for (unsigned i = 0; i < HELD; i++)
		assert_true(http_connections_hold(&table.connections, waiting[i], waiting[i],
						  HTTP_HOLD_NS, START_NS));
	assert_false(http_connections_hold(&table.connections, waiting[HELD], &table, HTTP_HOLD_NS,
					   START_NS));
	assert_int_equal(http_connections_held(&table.connections), HELD);
	/* Their request has arrived: its deadline is over. */
	assert_int_equal(
		http_connections_sweep(&table.connections, START_NS + HTTP_REQUEST_DEADLINE_NS), 1);
	assert_ptr_equal(http_connections_take_held(&table.connections), waiting[0]);
	assert_ptr_equal(http_connections_take_held(&table.connections), waiting[1]);
	assert_null(http_connections_take_held(&table.connections));
	assert_int_equal(http_connections_held(&table.connections), 0);
	/* For one that waits, as for one that reads, a reader is cut if there are too many. */
	for (unsigned i = 0; i < HELD; i++)
		assert_true(http_connections_hold(&table.connections, waiting[i], waiting[i],
						  HTTP_HOLD_NS, START_NS));
	assert_int_equal(cuts(&table, HTTP_CUT_SLOW), 0);
	http_connections_end_answer(&table.connections, table.slots[table.count - 1], START_NS);
	assert_true(http_connections_room(&table.connections, waiting[HELD], START_NS));
	assert_true(http_connections_hold(&table.connections, waiting[HELD], &table, HTTP_HOLD_NS,
					  START_NS));
	assert_true(http_connections_room(&table.connections, waiting[HELD],
					  START_NS + 2 * HTTP_REQUEST_DEADLINE_NS));
	assert_int_equal(cuts(&table, HTTP_CUT_SLOW), 1);
	while (http_connections_take_held(&table.connections))
		;
	/* Where fewer read, more may wait. */
	http_connections_end_answer(&table.connections, table.slots[HELD + 1], START_NS);
	for (unsigned i = 0; i < HELD + 1; i++)
		assert_true(http_connections_hold(&table.connections, waiting[i], waiting[i],
						  HTTP_HOLD_NS, START_NS + HTTP_HOLD_NS - 1));
	while (http_connections_take_held(&table.connections))
		;
	assert_true(http_connections_hold(&table.connections, waiting[0], waiting[0], HTTP_HOLD_NS,
					  START_NS + HTTP_HOLD_NS - 1));
	assert_ptr_equal(http_connections_take_held(&table.connections), waiting[0]);
	assert_false(http_connections_hold(&table.connections, waiting[0], waiting[0], HTTP_HOLD_NS,
					   START_NS + HTTP_HOLD_NS));
	assert_true(http_connections_hold(&table.connections, waiting[1], waiting[1], HTTP_HOLD_NS,
					  START_NS));
	http_connections_remove(&table.connections, waiting[1]);
	assert_int_equal(http_connections_held(&table.connections), 0);
	release_table(&table);
}

static unsigned hurry(struct table *table, const char *old, const char *newest, uint64_t now_ns)
{
	table->connections.measured_ns = 0; /* these calls may be closer together than a server's */
	return http_connections_cut_readers(&table->connections, old, newest, now_ns);
}

static void stuck_readers_of_two_bodies_are_cut(void **state)
{
	struct table table = new_table(MAX);
	static const char old[1], newest[1], other[1];
	const uint64_t stuck_ns = START_NS + HTTP_STUCK_NS;

	(void)reader_from(&table, HERE, old, START_NS);
	(void)reader_from(&table, HERE, old, START_NS);
	(void)reader_from(&table, HERE, newest, START_NS);
	(void)reader_from(&table, HERE, newest, START_NS + 1);
	(void)reader_from(&table, HERE, other, START_NS);
	takes(table.slots[1], HTTP_PROGRESS_BYTES);
	assert_int_equal(hurry(&table, old, newest, stuck_ns - 1), 2);
	assert_int_equal(hurry(&table, old, newest, stuck_ns), 1);
	for (unsigned i = 0; i < table.count; i++)
		assert_int_equal(is_cut(table.peers[i]), i == 0 || i == 2);
	/* A slow one that makes progress stays, however long, among those that make none. */
	for (uint64_t t = stuck_ns; t < START_NS + 3 * HTTP_FAIR_NS; t += HTTP_STUCK_NS / 2) {
		takes(table.slots[1], HTTP_PROGRESS_BYTES);
		assert_int_equal(hurry(&table, old, newest, t), 1);
	}
	assert_true(is_cut(table.peers[3]));
	assert_false(is_cut(table.peers[1]));
	assert_false(is_cut(table.peers[4]));
	assert_int_equal(cuts(&table, HTTP_CUT_OLD), 3);
	release_table(&table);
}

static void of_two_bodies_that_are_read_the_old_one_goes(void **state)
{
	struct table table = new_table(MAX);
	static const char old[1], newest[1];

	(void)reader_from(&table, HERE, old, START_NS);
	(void)reader_from(&table, HERE, newest, START_NS);
	for (uint64_t t = START_NS; t < START_NS + HTTP_FAIR_NS; t += HTTP_STUCK_NS / 2) {
		takes(table.slots[0], HTTP_PROGRESS_BYTES);
		takes(table.slots[1], HTTP_PROGRESS_BYTES);
		assert_int_equal(hurry(&table, old, newest, t), 1);
	}
	assert_int_equal(hurry(&table, old, newest, START_NS + HTTP_FAIR_NS - 1), 1);
	assert_int_equal(hurry(&table, old, newest, START_NS + HTTP_FAIR_NS), 0);
	assert_true(is_cut(table.peers[0]));
	assert_false(is_cut(table.peers[1]));
	assert_int_equal(cuts(&table, HTTP_CUT_OLD), 1);
	release_table(&table);
}

static void peers_are_told_apart_by_where_they_are(void **state)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = 1 }, b = a;
	struct sockaddr_in6 net = { .sin6_family = AF_INET6 }, other = net, mapped = net;
	const struct sockaddr local = { .sa_family = AF_UNIX };

	a.sin_addr.s_addr = htonl(0x0a000001);
	b.sin_addr.s_addr = htonl(0x0a000001);
	b.sin_port = 2;
	assert_int_equal(http_peer((struct sockaddr *)&a), http_peer((struct sockaddr *)&b));
	b.sin_addr.s_addr = htonl(0x0a000002);
	assert_int_not_equal(http_peer((struct sockaddr *)&a), http_peer((struct sockaddr *)&b));
	memcpy(mapped.sin6_addr.s6_addr, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\0\0\x01", 16);
	assert_int_equal(http_peer((struct sockaddr *)&a), http_peer((struct sockaddr *)&mapped));
	memset(net.sin6_addr.s6_addr, 0x20, 16);
	memset(other.sin6_addr.s6_addr, 0x20, 16);
	other.sin6_addr.s6_addr[8] = 1;
	assert_int_equal(http_peer((struct sockaddr *)&net), http_peer((struct sockaddr *)&other));
	other.sin6_addr.s6_addr[7] = 1;
	assert_int_not_equal(http_peer((struct sockaddr *)&net),
			     http_peer((struct sockaddr *)&other));
	/* As clients they are separate within one network, too. */
	assert_int_equal(http_address((struct sockaddr *)&a),
			 http_address((struct sockaddr *)&mapped));
	assert_int_not_equal(http_address((struct sockaddr *)&a),
			     http_address((struct sockaddr *)&b));
	other.sin6_addr = net.sin6_addr;
	other.sin6_port = 1;
	assert_int_equal(http_address((struct sockaddr *)&net),
			 http_address((struct sockaddr *)&other));
	other.sin6_addr.s6_addr[15] = 1;
	assert_int_not_equal(http_address((struct sockaddr *)&net),
			     http_address((struct sockaddr *)&other));
	assert_int_equal(http_address(&local), http_address(NULL));
	assert_int_equal(http_peer(&local), http_peer(NULL));
	assert_int_not_equal(http_peer(&local), http_peer((struct sockaddr *)&a));
}

/* Further ones get one answer, so that there is room for others. */
static void a_quarter_may_follow(void **state)
{
	struct table table = new_table(MAX);
	struct http_connection *connection;

	for (unsigned i = 0; i < MAX / 4; i++)
		assert_true(http_connections_begin_stream(
			&table.connections, reader_from(&table, HERE, "line", START_NS)));
	connection = reader_from(&table, HERE, "line", START_NS);
	assert_false(http_connections_begin_stream(&table.connections, connection));
	http_connections_end_answer(&table.connections, table.slots[0], START_NS);
	assert_true(http_connections_begin_stream(&table.connections, connection));
	release_table(&table);
}

/* Between two pieces the peer has nothing to do; with one on its way it has the usual deadlines. */
static void what_waits_for_us_is_not_overdue(void **state)
{
	const uint64_t end_ns = START_NS + 60 * NSEC_PER_SEC, late_ns = end_ns - 1;
	struct table table = new_table(MAX);
	struct http_connection *parked = connect_from(&table, HERE, START_NS);
	struct http_connection *other = connect_from(&table, HERE, START_NS);
	unsigned from = 0;

	http_connections_begin_answer(&table.connections, parked, "line", false, START_NS);
	http_connections_begin_answer(&table.connections, other, "line", false, START_NS);
	assert_true(http_connections_begin_stream(&table.connections, parked));
	http_connections_park(&table.connections, parked, &table, end_ns);
	assert_int_equal(http_connections_parked(&table.connections), 1);
	assert_int_equal(http_connections_sweep(&table.connections, late_ns), 1); /* the other */
	assert_int_equal(http_connections_cut_silent(&table.connections, late_ns), 0);
	assert_null(http_connections_take_parked(&table.connections, late_ns, &from));
	from = 0;
	assert_ptr_equal(http_connections_take_parked(&table.connections, end_ns, &from), &table);
	assert_int_equal(http_connections_parked(&table.connections), 0);
	http_connections_begin_piece(&table.connections, parked, 1, end_ns);
	assert_int_equal(http_connections_sweep(&table.connections, end_ns + HTTP_STALL_NS - 1), 0);
	assert_int_equal(http_connections_sweep(&table.connections, end_ns + HTTP_STALL_NS), 1);
	http_connections_park(&table.connections, parked, &table, end_ns);
	from = 0;
	assert_non_null(http_connections_take_parked(&table.connections, 0, &from));
	http_connections_park(&table.connections, parked, &table, end_ns);
	/* Each is given once. */
	assert_null(http_connections_take_parked(&table.connections, 0, &from));
	http_connections_end_answer(&table.connections, parked, end_ns);
	assert_int_equal(http_connections_parked(&table.connections), 0);
	release_table(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_bounded_and_reuses),
		cmocka_unit_test(times_are_what_is_promised),
		cmocka_unit_test(cuts_at_the_deadline_of_the_phase),
		cmocka_unit_test(cuts_who_takes_next_to_nothing),
		cmocka_unit_test(an_answer_restarts_the_clock),
		cmocka_unit_test(makes_room_among_the_silent_only),
		cmocka_unit_test(a_peer_with_unread_input_is_not_silent),
		cmocka_unit_test(the_patience_begins_with_our_last_bytes),
		cmocka_unit_test(unread_small_answers_make_room),
		cmocka_unit_test(the_slowest_goes_for_a_newcomer),
		cmocka_unit_test(steady_readers_have_their_time),
		cmocka_unit_test(a_light_address_never_gives_way_to_a_heavy_one),
		cmocka_unit_test(an_address_with_more_pages_gives_way),
		cmocka_unit_test(no_more_wait_than_may),
		cmocka_unit_test(stuck_readers_of_two_bodies_are_cut),
		cmocka_unit_test(of_two_bodies_that_are_read_the_old_one_goes),
		cmocka_unit_test(a_request_that_waits_is_not_overdue),
		cmocka_unit_test(peers_are_told_apart_by_where_they_are),
		cmocka_unit_test(a_quarter_may_follow),
		cmocka_unit_test(what_waits_for_us_is_not_overdue),
	};

	return unit_run(tests);
}
