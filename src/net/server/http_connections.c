// SPDX-License-Identifier: Apache-2.0
/*
 * A small array of slots (128 by default), walked as a whole: at that size a walk is cheaper than
 * any order that would have to be kept.
 *
 * The bytes that a peer has taken are those that its kernel has acknowledged (TCP_INFO), which is
 * read only where it matters: at each sweep, and when a peer has to be cut. A unix socket has no
 * acknowledgements, but its buffer is small: there the bytes that could be written count.
 */
#include "net/server/http_connections.h"

#include <errno.h>
#include <limits.h>
#include <linux/tcp.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/num.h"
#include "net/server/http_opening.h"

#define RESERVE_MIN      2
#define UNSENT_MAX       (256 * 1024) /* bytes of a connection: but for pages of few readers */
#define READERS_FEW      8
#define MEASURE_EVERY_NS (10ULL * 1000000ULL)
/* Peers over vsock are told apart by their context ids, which no address is equal to. */
#define VSOCK_PEERS (1ULL << 63)
#define SHARES      1024 /* addresses are identified by a hash: equal hashes share a share */

int http_connections_init(struct http_connections *connections, unsigned max)
{
	unsigned reserve = max / 4 > RESERVE_MIN ? max / 4 : RESERVE_MIN;

	*connections = (struct http_connections){
		.max = max,
		.answers_max = max - reserve,
		.busy_max = max - reserve / 2,
	};
	connections->slots = calloc(max, sizeof(*connections->slots));
	if (!connections->slots)
		return -ENOMEM;
	for (unsigned i = 0; i < max; i++)
		connections->slots[i].fd = -1;
	(void)pthread_mutex_init(&connections->lock,
				 NULL); /* cannot fail with default attributes */
	return 0;
}

void http_connections_release(struct http_connections *connections)
{
	if (!connections->slots)
		return;
	free(connections->slots);
	connections->slots = NULL;
	(void)pthread_mutex_destroy(&connections->lock);
}

uint64_t http_peer(const struct sockaddr *address)
{
	const struct sockaddr_in6 *v6 = (const void *)address;
	const struct sockaddr_in *v4 = (const void *)address;
	uint64_t network;
	uint32_t host;

	if (address && address->sa_family == AF_INET)
		return v4->sin_addr.s_addr;
	if (address && address->sa_family == AF_VSOCK)
		return VSOCK_PEERS | ((const struct sockaddr_vm *)(const void *)address)->svm_cid;
	if (!address || address->sa_family != AF_INET6)
		return UINT64_MAX;
	if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) {
		memcpy(&host, &v6->sin6_addr.s6_addr[12], sizeof(host));
		return host;
	}
	/* One machine can usually choose its addresses from a whole /64. */
	memcpy(&network, v6->sin6_addr.s6_addr, sizeof(network));
	return network;
}

uint64_t http_address(const struct sockaddr *address)
{
	const struct sockaddr_in6 *v6 = (const void *)address;
	uint64_t peer = http_peer(address);

	if (address && address->sa_family == AF_INET6 && !IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr))
		return hash64_bytes(HASH64_START, (const char *)v6->sin6_addr.s6_addr, 16);
	return hash64_bytes(HASH64_START, (const char *)&peer, sizeof(peer));
}

struct http_connection *http_connections_add(struct http_connections *connections, int fd,
					     const struct sockaddr *address, uint64_t now_ns)
{
	struct http_connection *found = NULL;

	pthread_mutex_lock(&connections->lock);
	for (unsigned i = 0; i < connections->max && !found; i++) {
		if (connections->slots[i].fd < 0)
			found = &connections->slots[i];
	}
	if (found) {
		*found = (struct http_connection){
			.fd = fd,
			.local = address && address->sa_family == AF_UNIX,
			.no_tcp = address &&
				  (address->sa_family == AF_UNIX || address->sa_family == AF_VSOCK),
			.peer = http_peer(address),
			.address = http_address(address),
			.since_ns = now_ns,
		};
		__atomic_fetch_add(&connections->used, 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&connections->lock);
	return found;
}

static bool reads_page(const struct http_connection *connection)
{
	return connection->fd >= 0 && connection->answering && connection->page && !connection->cut;
}

/* Under the lock. */
static void unpark(struct http_connections *connections, struct http_connection *connection)
{
	if (connection->parked)
		__atomic_fetch_sub(&connections->parked, 1, __ATOMIC_RELAXED);
	connection->parked = NULL;
}

/* Under the lock. */
static void end_stream(struct http_connections *connections, struct http_connection *connection)
{
	unpark(connections, connection);
	connections->streams -= connection->is_stream;
	connection->is_stream = false;
}

void http_connections_remove(struct http_connections *connections,
			     struct http_connection *connection)
{
	pthread_mutex_lock(&connections->lock);
	connections->answers -= reads_page(connection);
	connections->ended++;
	connections->held -= connection->held != NULL;
	connection->held = NULL;
	end_stream(connections, connection);
	connection->fd = -1;
	__atomic_fetch_sub(&connections->used, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&connections->lock);
}

/*
 * The kernel lets a send buffer grow to megabytes, which is the cheapest way to answer; but a
 * hundred slow readers must not each have as much. This does not limit bytes that are sent and not
 * yet acknowledged, so a fast reader gets the full speed of its network.
 */
static void bound_unsent(struct http_connection *connection, bool bounded)
{
	const int bytes = bounded ? UNSENT_MAX : INT_MAX;

	if (connection->bounded == bounded || connection->no_tcp)
		return;
	connection->bounded = bounded;
	(void)setsockopt(connection->fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof(bytes));
}

void http_connections_begin_answer(struct http_connections *connections,
				   struct http_connection *connection, const void *body, bool page,
				   uint64_t now_ns)
{
	pthread_mutex_lock(&connections->lock);
	connection->answering = true;
	connection->page = page;
	connection->body = body;
	connection->since_ns = connection->mark_ns = now_ns;
	connection->held_ns = 0;
	connection->mark_bytes = connection->sent_bytes;
	connections->answers += reads_page(connection);
	bound_unsent(connection, !page || connections->answers > READERS_FEW);
	pthread_mutex_unlock(&connections->lock);
}

void http_connections_end_answer(struct http_connections *connections,
				 struct http_connection *connection, uint64_t now_ns)
{
	pthread_mutex_lock(&connections->lock);
	connections->answers -= reads_page(connection);
	connections->ended++;
	end_stream(connections, connection);
	connection->answering = false;
	connection->body = NULL;
	connection->sent_bytes += connection->answer_len;
	connection->answer_len = 0;
	connection->since_ns = now_ns;
	pthread_mutex_unlock(&connections->lock);
}

unsigned http_connections_used(const struct http_connections *connections)
{
	return __atomic_load_n(&connections->used, __ATOMIC_RELAXED);
}

unsigned http_connections_held(struct http_connections *connections)
{
	unsigned held;

	pthread_mutex_lock(&connections->lock);
	held = connections->held;
	pthread_mutex_unlock(&connections->lock);
	return held;
}

unsigned http_connections_ended(struct http_connections *connections)
{
	unsigned ended;

	pthread_mutex_lock(&connections->lock);
	ended = connections->ended;
	pthread_mutex_unlock(&connections->lock);
	return ended;
}

/* The kernel's data on the peer's reading; all 0 if it has none. */
static struct tcp_info peer_info(const struct http_connection *connection)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	memset(&info, 0, sizeof(info));
	if (!connection->no_tcp)
		(void)getsockopt(connection->fd, IPPROTO_TCP, TCP_INFO, &info, &len);
	return info;
}

static uint64_t span_ns(uint64_t from_ns, uint64_t to_ns)
{
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* Does the kernel hold bytes that the peer has not taken? */
static bool has_unread(const struct tcp_info *info)
{
	return info->tcpi_unacked || info->tcpi_notsent_bytes;
}

/* A peer that has taken everything that was sent waits for us: it is not slow. */
static void mark_progress(struct http_connection *connection, uint64_t now_ns)
{
	const struct tcp_info info = peer_info(connection);
	uint64_t bytes = connection->no_tcp
				 ? __atomic_load_n(&connection->handed_bytes, __ATOMIC_RELAXED)
				 : info.tcpi_bytes_acked;

	if (bytes < connection->mark_bytes + HTTP_PROGRESS_BYTES &&
	    (connection->no_tcp || !connection->answering || has_unread(&info)))
		return;
	connection->mark_bytes = bytes;
	connection->mark_ns = now_ns;
}

/* Brings all marks up to date. Under the lock. */
static void measure(struct http_connections *connections, uint64_t now_ns)
{
	if (span_ns(connections->measured_ns, now_ns) < MEASURE_EVERY_NS)
		return;
	connections->measured_ns = now_ns;
	for (unsigned i = 0; i < connections->max; i++) {
		struct http_connection *connection = &connections->slots[i];

		if (connection->fd >= 0 && !connection->cut)
			mark_progress(connection, now_ns);
	}
}

/* Under the lock. */
static void cut(struct http_connections *connections, struct http_connection *connection,
		enum http_cut why)
{
	const struct linger at_once = { .l_onoff = 1 };
	const struct tcp_info info = peer_info(connection);

	/*
	 * Then closing discards the data; otherwise the kernel would keep it for minutes without an
	 * owner.
	 */
	if (connection->answering || has_unread(&info))
		(void)setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	(void)shutdown(connection->fd, SHUT_RDWR); /* fails only when the peer has gone */
	connections->answers -= reads_page(connection);
	connection->cut = true;
	__atomic_fetch_add(&connections->cuts[why], 1, __ATOMIC_RELAXED);
}

/* HTTP_CUT_COUNT: it may stay. */
static enum http_cut overdue(const struct http_connection *connection, uint64_t now_ns)
{
	uint64_t lasted_ns = span_ns(connection->since_ns, now_ns);

	if (connection->held_ns || connection->parked)
		return HTTP_CUT_COUNT; /* http_connections_hold() and @stream_end_ns bound that */
	if (connection->answering && lasted_ns >= HTTP_ANSWER_DEADLINE_NS)
		return HTTP_CUT_ANSWER;
	if (span_ns(connection->mark_ns, now_ns) < HTTP_STALL_NS)
		return HTTP_CUT_COUNT; /* or still takes what the kernel has of the last answer */
	if (connection->answering)
		return HTTP_CUT_STALLED;
	return lasted_ns >= HTTP_REQUEST_DEADLINE_NS ? HTTP_CUT_REQUEST : HTTP_CUT_COUNT;
}

unsigned http_connections_sweep(struct http_connections *connections, uint64_t now_ns)
{
	unsigned count = 0;

	if (__atomic_load_n(&connections->used, __ATOMIC_RELAXED) == 0)
		return 0; /* as mostly: there is no need to look at each slot */
	pthread_mutex_lock(&connections->lock);
	measure(connections, now_ns);
	for (unsigned i = 0; i < connections->max; i++) {
		struct http_connection *connection = &connections->slots[i];
		enum http_cut why;

		if (connection->fd < 0 || connection->cut)
			continue;
		why = overdue(connection, now_ns);
		if (why == HTTP_CUT_COUNT)
			continue;
		cut(connections, connection, why);
		count++;
	}
	pthread_mutex_unlock(&connections->lock);
	return count;
}

/* Since the connection was made, or the last bytes that we have sent over it. */
static uint64_t unsent_ns(const struct tcp_info *info)
{
	return info->tcpi_last_data_sent * NSEC_PER_MSEC;
}

bool http_connections_was_silent(int fd, bool tls)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0 &&
	       unsent_ns(&info) >= HTTP_PATIENCE_NS && !http_opening_has_come(fd, tls);
}

void http_connections_count_silent(struct http_connections *connections)
{
	__atomic_fetch_add(&connections->cuts[HTTP_CUT_SILENT], 1, __ATOMIC_RELAXED);
}

/* Has the server something to read of it, or sent something to it of late? */
static bool was_answered(const struct http_connection *connection)
{
	const struct tcp_info info = peer_info(connection);
	char unread;

	return recv(connection->fd, &unread, 1, MSG_PEEK | MSG_DONTWAIT) > 0 ||
	       (!connection->no_tcp && unsent_ns(&info) < HTTP_PATIENCE_NS);
}

static bool is_silent(const struct http_connection *connection, uint64_t now_ns)
{
	uint64_t lasted_ns = span_ns(connection->since_ns, now_ns);

	if (connection->fd < 0 || connection->cut || reads_page(connection) ||
	    connection->held_ns || connection->parked || lasted_ns < HTTP_PATIENCE_NS ||
	    span_ns(connection->mark_ns, now_ns) < HTTP_PATIENCE_NS)
		return false;
	return connection->answering || lasted_ns >= HTTP_CROWDED_NS || !was_answered(connection);
}

unsigned http_connections_cut_silent(struct http_connections *connections, uint64_t now_ns)
{
	unsigned count = 0;

	pthread_mutex_lock(&connections->lock);
	measure(connections, now_ns);
	for (unsigned i = 0; i < connections->max; i++) {
		struct http_connection *connection = &connections->slots[i];

		if (!is_silent(connection, now_ns))
			continue;
		cut(connections, connection, HTTP_CUT_SILENT);
		count++;
	}
	pthread_mutex_unlock(&connections->lock);
	return count;
}

static unsigned share_of(uint64_t peer)
{
	return (unsigned)((peer * 0x9e3779b97f4a7c15ULL) >> 54);
}

/*
 * The order in which readers are cut: the address with more pages first, then the reader without
 * progress for longer, then the older one.
 */
static bool goes_before(const struct http_connection *a, unsigned a_pages,
			const struct http_connection *b, unsigned b_pages)
{
	if (a_pages != b_pages)
		return a_pages > b_pages;
	if (a->mark_ns != b->mark_ns)
		return a->mark_ns < b->mark_ns;
	return a->since_ns < b->since_ns;
}

/*
 * May @connection be cut for @newcomer? At once if its address has more than its share; never if
 * the newcomer's address has more; else if it is slow, or, when the newcomer has waited for a while
 * without a slow reader, if it has had its time.
 */
static bool gives_way(const struct http_connection *connection, unsigned its_pages,
		      const struct http_connection *newcomer, unsigned newcomers_pages,
		      uint64_t now_ns)
{
	if (its_pages > newcomers_pages + 1 || its_pages < newcomers_pages)
		return its_pages > newcomers_pages;
	return span_ns(connection->mark_ns, now_ns) >= HTTP_YIELD_NS ||
	       (newcomer->held_ns && span_ns(newcomer->held_ns, now_ns) >= HTTP_STUCK_NS &&
		span_ns(connection->since_ns, now_ns) >= HTTP_FAIR_NS);
}

static struct http_connection *pick(const struct http_connections *connections,
				    const struct http_connection *newcomer, uint64_t now_ns)
{
	struct http_connection *worst = NULL;
	uint16_t pages[SHARES] = { 0 };
	unsigned worst_pages = 0;

	for (unsigned i = 0; i < connections->max; i++) {
		if (reads_page(&connections->slots[i]))
			pages[share_of(connections->slots[i].peer)]++;
	}
	for (unsigned i = 0; i < connections->max; i++) {
		struct http_connection *connection = &connections->slots[i];
		unsigned its_pages = pages[share_of(connection->peer)];

		if (!reads_page(connection) || !gives_way(connection, its_pages, newcomer,
							  pages[share_of(newcomer->peer)], now_ns))
			continue;
		if (!worst || goes_before(connection, its_pages, worst, worst_pages)) {
			worst = connection;
			worst_pages = its_pages;
		}
	}
	return worst;
}

bool http_connections_room(struct http_connections *connections,
			   const struct http_connection *newcomer, uint64_t now_ns)
{
	struct http_connection *victim = NULL;
	bool room;

	pthread_mutex_lock(&connections->lock);
	room = connections->answers < connections->answers_max &&
	       connections->answers + connections->held < connections->busy_max;
	if (!room) {
		measure(connections, now_ns);
		victim = pick(connections, newcomer, now_ns);
	}
	if (victim)
		cut(connections, victim, HTTP_CUT_SLOW);
	pthread_mutex_unlock(&connections->lock);
	return room || victim;
}

bool http_connections_hold(struct http_connections *connections, struct http_connection *connection,
			   void *handle, uint64_t hold_ns, uint64_t now_ns)
{
	bool may;

	pthread_mutex_lock(&connections->lock);
	may = connections->answers + connections->held < connections->busy_max &&
	      (!connection->held_ns || span_ns(connection->held_ns, now_ns) < hold_ns);
	if (may) {
		connection->held = handle;
		connection->held_ns = connection->held_ns ? connection->held_ns : now_ns;
		connections->held++;
	}
	pthread_mutex_unlock(&connections->lock);
	return may;
}

void http_connections_admit(struct http_connections *connections,
			    struct http_connection *connection, uint64_t now_ns)
{
	if (!connection->held_ns)
		return; /* as mostly */
	pthread_mutex_lock(&connections->lock);
	connection->held_ns = 0;
	connection->since_ns = now_ns;
	pthread_mutex_unlock(&connections->lock);
}

void *http_connections_take_held(struct http_connections *connections)
{
	void *handle = NULL;

	pthread_mutex_lock(&connections->lock);
	for (unsigned i = 0; i < connections->max && connections->held && !handle; i++) {
		handle = connections->slots[i].fd >= 0 ? connections->slots[i].held : NULL;
		if (handle) {
			connections->slots[i].held = NULL;
			connections->held--;
		}
	}
	pthread_mutex_unlock(&connections->lock);
	return handle;
}

bool http_connections_begin_stream(struct http_connections *connections,
				   struct http_connection *connection)
{
	pthread_mutex_lock(&connections->lock);
	connection->is_stream = connections->streams < connections->max / 4;
	connections->streams += connection->is_stream;
	pthread_mutex_unlock(&connections->lock);
	return connection->is_stream;
}

void http_connections_begin_piece(struct http_connections *connections,
				  struct http_connection *connection, size_t len, uint64_t now_ns)
{
	pthread_mutex_lock(&connections->lock);
	connection->since_ns = connection->mark_ns = now_ns;
	connection->answer_len += len;
	pthread_mutex_unlock(&connections->lock);
}

void http_connections_park(struct http_connections *connections, struct http_connection *connection,
			   void *handle, uint64_t end_ns)
{
	pthread_mutex_lock(&connections->lock);
	connection->parked = handle;
	connection->stream_end_ns = end_ns;
	__atomic_fetch_add(&connections->parked, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&connections->lock);
}

void *http_connections_take_parked(struct http_connections *connections, uint64_t now_ns,
				   unsigned *from)
{
	void *handle = NULL;

	if (http_connections_parked(connections) == 0)
		return NULL; /* as mostly */
	pthread_mutex_lock(&connections->lock);
	for (; *from < connections->max && !handle; ++*from) {
		struct http_connection *connection = &connections->slots[*from];

		if (!connection->parked || (now_ns && now_ns < connection->stream_end_ns))
			continue;
		handle = connection->parked;
		unpark(connections, connection);
	}
	pthread_mutex_unlock(&connections->lock);
	return handle;
}

unsigned http_connections_parked(const struct http_connections *connections)
{
	return __atomic_load_n(&connections->parked, __ATOMIC_RELAXED);
}

static bool reads(const struct http_connection *connection, const void *body)
{
	return connection->fd >= 0 && connection->answering && !connection->cut &&
	       connection->body == body;
}

static bool is_stuck(const struct http_connection *connection, uint64_t now_ns)
{
	return span_ns(connection->mark_ns, now_ns) >= HTTP_STUCK_NS;
}

/* Is there a reader of @body that makes progress? */
static bool is_well_read(const struct http_connections *connections, const void *body,
			 uint64_t now_ns)
{
	for (unsigned i = 0; i < connections->max; i++) {
		const struct http_connection *connection = &connections->slots[i];

		if (reads(connection, body) && !is_stuck(connection, now_ns) &&
		    span_ns(connection->since_ns, now_ns) >= HTTP_STUCK_NS)
			return true;
	}
	return false;
}

unsigned http_connections_cut_readers(struct http_connections *connections, const void *old,
				      const void *newest, uint64_t now_ns)
{
	unsigned left = 0;
	bool old_goes;

	pthread_mutex_lock(&connections->lock);
	measure(connections, now_ns);
	old_goes = is_well_read(connections, newest, now_ns);
	for (unsigned i = 0; i < connections->max; i++) {
		struct http_connection *connection = &connections->slots[i];
		bool reads_old = reads(connection, old);

		if (!reads_old && !reads(connection, newest))
			continue;
		if (is_stuck(connection, now_ns) ||
		    (reads_old && old_goes &&
		     span_ns(connection->since_ns, now_ns) >= HTTP_FAIR_NS))
			cut(connections, connection, HTTP_CUT_OLD);
		else
			left += reads_old;
	}
	pthread_mutex_unlock(&connections->lock);
	return left;
}
