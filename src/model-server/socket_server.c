// SPDX-License-Identifier: Apache-2.0
#include "model-server/socket_server.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/macro.h"
#include "base/text/json_scan.h"

#define READ_BLOCK 65536
#define KEPT_MAX   (256U << 10) /* bytes of memory that an idle peer keeps */
#define FULL_MS    20           /* while all places are taken: look again */

struct peer {
	int fd;
	char *in;
	size_t in_len, in_size;
	size_t scanned; /* bytes of in that were looked at */
	struct json_scan scan;
	struct strbuf out;
	size_t sent;
	bool begun;           /* a request has, with a first bracket */
	bool ends;            /* the connection, when all is sent */
	bool gone;            /* it has failed */
	uid_t uid;            /* of the process that has connected */
	uint64_t since_ns;    /* when the request, the answer or the idle time began */
	uint64_t progress_ns; /* when bytes came or left, at last */
};

struct socket_server {
	struct socket_options options;
	struct peer peers[SOCKET_PEERS_MAX];
	size_t count;
};

struct socket_server *socket_server_new(const struct socket_options *options)
{
	struct socket_server *server = calloc(1, sizeof(*server));

	if (server)
		server->options = *options;
	return server;
}

/*
 * Closed with unread bytes, a unix socket resets the connection, and the client would not see its
 * end. After the shutdown the client can send no more, so that the loop ends.
 */
static void hang_up(int fd)
{
	char unread[4096];

	(void)shutdown(fd, SHUT_RDWR);
	while (recv(fd, unread, sizeof(unread), MSG_DONTWAIT) > 0)
		;
	(void)close(fd);
}

static void peer_release(struct peer *peer)
{
	hang_up(peer->fd);
	free(peer->in);
	strbuf_release(&peer->out);
}

/* The last peer takes its place. */
static void remove_peer(struct socket_server *server, size_t index)
{
	peer_release(&server->peers[index]);
	server->peers[index] = server->peers[--server->count];
}

void socket_server_free(struct socket_server *server)
{
	if (!server)
		return;
	while (server->count)
		remove_peer(server, server->count - 1);
	free(server);
}

/* ---- requests ---- */

static void refuse(struct socket_server *server, struct peer *peer, const char *why)
{
	server->options.refuse(server->options.userdata, why, &peer->out);
	peer->ends = true;
	peer->in_len = peer->scanned = 0;
}

/* Forgets the first @len bytes, which are done with. */
static void consume(struct peer *peer, size_t len)
{
	memmove(peer->in, peer->in + len, peer->in_len - len);
	peer->in_len -= len;
	peer->scanned = 0;
	peer->scan = (struct json_scan){ 0 };
	peer->begun = false;
	if (!peer->in_len && peer->in_size > KEPT_MAX) {
		free(TAKE_PTR(peer->in));
		peer->in_size = 0;
	}
}

static size_t blanks(const struct peer *peer)
{
	size_t len = 0;

	while (len < peer->in_len && json_is_blank(peer->in[len]))
		len++;
	return len;
}

/* Length of the request that begins at the first byte; 0: its end has not come. */
static size_t request_len(struct peer *peer)
{
	while (peer->scanned < peer->in_len) {
		enum json_piece piece;

		peer->scanned += json_scan_next(&peer->scan, peer->in + peer->scanned,
						peer->in_len - peer->scanned, &piece);
		if (piece == PIECE_CLOSE && peer->scan.depth <= 1)
			return peer->scanned;
	}
	return 0;
}

static void answer_requests(struct socket_server *server, struct peer *peer, uint64_t now_ns)
{
	while (!peer->ends && peer->in_len) {
		size_t len;

		if (!peer->begun) {
			consume(peer, blanks(peer));
			if (!peer->in_len)
				return;
			if (peer->in[0] != '{') {
				refuse(server, peer, "the request must be a JSON object");
				return;
			}
			peer->begun = true;
			peer->since_ns = now_ns;
		}
		len = request_len(peer);
		if (len > server->options.request_max ||
		    (!len && peer->in_len > server->options.request_max)) {
			refuse(server, peer, "the request is too long");
			return;
		}
		if (!len)
			return;
		server->options.answer(server->options.userdata, peer->in, len, &peer->out);
		consume(peer, len);
		peer->since_ns = now_ns;
	}
}

static void read_from(struct socket_server *server, struct peer *peer, uint64_t now_ns)
{
	ssize_t n;

	if (ARRAY_RESERVE(peer->in, peer->in_size, peer->in_len + READ_BLOCK) < 0) {
		refuse(server, peer, "out of memory");
		return;
	}
	n = recv(peer->fd, peer->in + peer->in_len, READ_BLOCK, 0);
	if (n < 0) {
		peer->gone = errno != EAGAIN && errno != EINTR;
		return;
	}
	if (n > 0)
		peer->progress_ns = now_ns;
	peer->in_len += (size_t)n;
	answer_requests(server, peer, now_ns);
	if (n == 0 && peer->in_len)
		refuse(server, peer, "the request ends too early");
	peer->ends = peer->ends || n == 0;
}

static void write_to(struct peer *peer, uint64_t now_ns)
{
	ssize_t n = send(peer->fd, peer->out.data + peer->sent, peer->out.len - peer->sent,
			 MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0) {
		peer->gone = errno != EAGAIN && errno != EINTR;
		return;
	}
	peer->progress_ns = now_ns;
	peer->sent += (size_t)n;
	if (peer->sent == peer->out.len) {
		strbuf_release(&peer->out);
		peer->sent = 0;
		peer->since_ns = now_ns;
	}
}

/* ---- peers ---- */

static bool is_answering(const struct peer *peer)
{
	return peer->out.len > peer->sent;
}

static uint64_t patience_ns(const struct peer *peer)
{
	if (is_answering(peer))
		return SOCKET_ANSWER_NS;
	return peer->begun ? SOCKET_REQUEST_NS : SOCKET_IDLE_NS;
}

/* An answer for which there is no memory ends the connection as well. */
static bool is_over(const struct peer *peer, uint64_t now_ns)
{
	return peer->gone || peer->out.failed || (peer->ends && !is_answering(peer)) ||
	       now_ns - peer->since_ns > patience_ns(peer);
}

static void sweep(struct socket_server *server, uint64_t now_ns)
{
	for (size_t i = server->count; i > 0; i--)
		if (is_over(&server->peers[i - 1], now_ns))
			remove_peer(server, i - 1);
}

static void serve_peer(struct socket_server *server, struct peer *peer, short events,
		       uint64_t now_ns)
{
	if (is_answering(peer)) {
		if (events)
			write_to(peer, now_ns);
		return;
	}
	if (events)
		read_from(server, peer, now_ns);
	if (is_answering(peer))
		write_to(peer, now_ns);
}

static size_t places_of(const struct socket_server *server, uid_t uid)
{
	size_t places = 0;

	for (size_t i = 0; i < server->count; i++)
		places += server->peers[i].uid == uid;
	return places;
}

/*
 * Closes a connection of the user with the most places: the one that has neither sent nor received
 * for the longest. So neither unfinished requests nor unread answers keep other clients out. Peers
 * that were active in this turn stay. Returns false if all peers of that user were active.
 */
static bool cut_one(struct socket_server *server, uint64_t now_ns)
{
	size_t most = 0, found = SIZE_MAX;

	for (size_t i = 0; i < server->count; i++) {
		size_t places = places_of(server, server->peers[i].uid);

		most = places > most ? places : most;
	}
	for (size_t i = 0; i < server->count; i++) {
		const struct peer *peer = &server->peers[i];

		if (peer->progress_ns < now_ns && places_of(server, peer->uid) == most &&
		    (found == SIZE_MAX || peer->progress_ns < server->peers[found].progress_ns))
			found = i;
	}
	if (found == SIZE_MAX)
		return false;
	remove_peer(server, found);
	return true;
}

static bool somebody_waits(const struct socket_server *server)
{
	struct pollfd listener = { .fd = server->options.listener, .events = POLLIN };

	return poll(&listener, 1, 0) > 0;
}

/* Accepts all waiting peers and reads what they have sent; most requests arrive whole. */
static void accept_peers(struct socket_server *server, uint64_t now_ns)
{
	while (server->count < SOCKET_PEERS_MAX ||
	       (somebody_waits(server) && cut_one(server, now_ns))) {
		int fd =
			accept4(server->options.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		struct ucred from = { .uid = (uid_t)-1 };
		socklen_t len = sizeof(from);
		struct peer *peer;

		if (fd < 0)
			return; /* none waits; or no descriptor, and it waits on */
		(void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &from, &len); /* -1: unknown */
		peer = &server->peers[server->count++];
		*peer = (struct peer){
			.fd = fd, .uid = from.uid, .since_ns = now_ns, .progress_ns = now_ns
		};
		serve_peer(server, peer, POLLIN, now_ns);
	}
}

bool socket_server_turn(struct socket_server *server, int other_fd, int wait_ms)
{
	struct pollfd fds[SOCKET_PEERS_MAX + 2];
	size_t count = server->count;
	bool full = count == SOCKET_PEERS_MAX;
	uint64_t now_ns;

	for (size_t i = 0; i < count; i++)
		fds[i] = (struct pollfd){
			.fd = server->peers[i].fd,
			.events = is_answering(&server->peers[i]) ? POLLOUT : POLLIN,
		};
	fds[count] =
		(struct pollfd){ .fd = full ? -1 : server->options.listener, .events = POLLIN };
	fds[count + 1] = (struct pollfd){ .fd = other_fd, .events = POLLIN };
	if (poll(fds, (nfds_t)count + 2, full && wait_ms > FULL_MS ? FULL_MS : wait_ms) < 0)
		return false;
	now_ns = clock_ns(CLOCK_MONOTONIC);
	for (size_t i = 0; i < count; i++)
		serve_peer(server, &server->peers[i], fds[i].revents, now_ns);
	sweep(server, now_ns);
	accept_peers(server, now_ns);
	return fds[count + 1].revents != 0;
}
