/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which peers are connected, what each of them has to do, since when, and which have to be cut: the
 * deadlines and the fairness that libmicrohttpd lacks.
 *
 * Its own time-out counts from the last byte, so a peer that drips one byte a second stays for
 * ever. Here a request must have arrived within HTTP_REQUEST_DEADLINE of the connection or of the
 * last answer, an answer must have left within HTTP_ANSWER_DEADLINE, and meanwhile its reader must
 * take HTTP_PROGRESS_BYTES in each HTTP_STALL: 9 MB over a slow link may take a minute.
 *
 * Of `max` connections at most `answers_max` may be reading a page, and with those that wait for
 * their page they are at most `busy_max`; the others remain free for requests that are answered at
 * once, whatever other peers do. When one more page is requested than may be read, a reader is cut
 * for it (http_connections_room). To cut is to shut the socket down; the server then sees its end
 * and closes it. Safe on several threads.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define HTTP_REQUEST_DEADLINE_NS (5ULL * 1000000000ULL)
#define HTTP_ANSWER_DEADLINE_NS  (60ULL * 1000000000ULL)
#define HTTP_PROGRESS_BYTES      16384
#define HTTP_STALL_NS            (2ULL * 1000000000ULL)
/* While others wait to connect: time for a request, or for reading an answer that is not a page. */
#define HTTP_PATIENCE_NS (100ULL * 1000000ULL)
/* The longest time for a request meanwhile, however often the peer was answered. */
#define HTTP_CROWDED_NS (2ULL * 1000000000ULL)
/* A reader without progress for this long gives way to another one that requests a page. */
#define HTTP_YIELD_NS (50ULL * 1000000ULL)
/* Time that a reader with progress has for its page even if others wait. */
#define HTTP_FAIR_NS (1000ULL * 1000000ULL)
/* A reader without progress for this long loses its page when a new page needs the memory. */
#define HTTP_STUCK_NS (500ULL * 1000000ULL)
/* Longest that a request waits for room. */
#define HTTP_HOLD_NS (1500ULL * 1000000ULL)

/* Why a connection was cut: it exceeded a deadline, or others waited for its resources. */
enum http_cut {
	HTTP_CUT_REQUEST, /* its request took too long */
	HTTP_CUT_ANSWER,  /* its answer took too long */
	HTTP_CUT_STALLED, /* it read almost nothing */
	HTTP_CUT_SILENT,  /* no request, or small answers unread, and others waited to connect */
	HTTP_CUT_SLOW,    /* the slowest reader, and others waited for their page */
	HTTP_CUT_OLD,     /* a reader of an old page, because its memory was needed for a new one */
	HTTP_CUT_COUNT,
};

struct http_connection {
	int fd;                /* -1: this slot is free */
	bool local;            /* over a unix socket */
	bool no_tcp;           /* over that, or vsock: what its peer takes is counted otherwise */
	bool answering;        /* false: a request is awaited */
	bool page;             /* what is answered is a page: it counts among the answers */
	bool cut;              /* shut down, not yet closed */
	bool bounded;          /* little of it may lie in the kernel unsent */
	uint64_t peer;         /* where it comes from: http_peer() */
	uint64_t address;      /* hash of its address: http_address() */
	uint64_t since_ns;     /* monotonic: when what it does now began */
	const void *body;      /* owner of the body of the current answer, or NULL */
	size_t answer_len;     /* bytes of the body of the current answer */
	uint64_t sent_bytes;   /* of the bodies of all answers before */
	uint64_t handed_bytes; /* no_tcp: of bodies, given to the kernel so far */
	uint64_t mark_bytes;   /* what the peer had taken at mark_ns */
	uint64_t mark_ns;      /* when its last progress was seen */
	void *held;            /* its request waits for room: the server's handle of it, or NULL */
	uint64_t held_ns;      /* since when it waits, from the first time on; 0: not at all */
	bool has_chunks;       /* its request is of HTTP/1.1 */
	bool is_stream;        /* its answer comes in pieces (http_stream.h) */
	void *parked;          /* it waits for one: the stream's handle, or NULL */
	uint64_t stream_end_ns;
	void *upload;    /* the body of its request (http_upload.h), or NULL */
	uint64_t ticket; /* what the handler keeps with a request that waits */
	void *security;  /* the server's, of its handshake */
};

struct http_connections {
	pthread_mutex_t lock;
	struct http_connection *slots;
	unsigned max, answers_max, busy_max;
	unsigned used;        /* changed under the lock, read by atomic load */
	unsigned answers;     /* pages being read, those that are cut apart; under the lock */
	unsigned held;        /* requests that wait; under the lock */
	unsigned streams;     /* answers in pieces; under the lock */
	unsigned parked;      /* those of them that wait for one; changed as @used is */
	unsigned ended;       /* answers and connections that ended, turns over; under the lock */
	uint64_t measured_ns; /* when progress was last looked at; under the lock */
	uint64_t cuts[HTTP_CUT_COUNT]; /* atomic */
};

/* @max: at least 4. */
int http_connections_init(struct http_connections *connections, unsigned max);
void http_connections_release(struct http_connections *connections);
/* The identity of a peer for fairness: its IPv4 address, its IPv6 /64, or this machine. */
uint64_t http_peer(const struct sockaddr *address);
/* A hash of its whole address, without the port; all peers on a unix socket have the same. */
uint64_t http_address(const struct sockaddr *address);
/* The slot of a new connection, or NULL when all are taken. @fd stays the caller's. */
struct http_connection *http_connections_add(struct http_connections *connections, int fd,
					     const struct sockaddr *address, uint64_t now_ns);
/* To be called before the descriptor is closed, so that a reused descriptor is not shut down. */
void http_connections_remove(struct http_connections *connections,
			     struct http_connection *connection);
/* Its request has arrived; @body identifies what it reads, @page whether it counts as a page. */
void http_connections_begin_answer(struct http_connections *connections,
				   struct http_connection *connection, const void *body, bool page,
				   uint64_t now_ns);
/* Its answer has left. */
void http_connections_end_answer(struct http_connections *connections,
				 struct http_connection *connection, uint64_t now_ns);
unsigned http_connections_used(const struct http_connections *connections);
unsigned http_connections_held(struct http_connections *connections);
/* Changes whenever an answer or a connection has ended. */
unsigned http_connections_ended(struct http_connections *connections);
/* Cuts connections that exceeded their deadline; returns how many. */
unsigned http_connections_sweep(struct http_connections *connections, uint64_t now_ns);
/*
 * True if the peer of @fd, which was just accepted, has waited in the backlog for HTTP_PATIENCE
 * without sending what it has to send first (http_opening.h). A unix socket's is not known: false.
 */
bool http_connections_was_silent(int fd, bool tls);
/* One that was silent was closed without a slot. */
void http_connections_count_silent(struct http_connections *connections);
/*
 * Cuts all connections that have kept the server waiting for HTTP_PATIENCE: for a request, or for
 * reading an answer that is not a page. Peers that still take data stay. For a request the server
 * waits from the last bytes on that it has sent, as in a handshake, and not while there is anything
 * to read; in all for HTTP_CROWDED at most. Returns how many.
 */
unsigned http_connections_cut_silent(struct http_connections *connections, uint64_t now_ns);
/*
 * Lets the request of @connection wait; the server has suspended it and identifies it by @handle.
 * false: too many read or wait, or this one has waited for @hold_ns since the first time.
 */
bool http_connections_hold(struct http_connections *connections, struct http_connection *connection,
			   void *handle, uint64_t hold_ns, uint64_t now_ns);
/*
 * It no longer waits to be admitted: from now on it has the usual time to arrive as a whole, and
 * may be held again.
 */
void http_connections_admit(struct http_connections *connections,
			    struct http_connection *connection, uint64_t now_ns);
/* The handle of a request that was held and is no longer; NULL when none is. */
void *http_connections_take_held(struct http_connections *connections);
/*
 * The answer of @connection is to come in pieces. False: a quarter of the connections have such an
 * answer already.
 */
bool http_connections_begin_stream(struct http_connections *connections,
				   struct http_connection *connection);
/* A further piece of @len bytes is on its way, with all deadlines of an answer. */
void http_connections_begin_piece(struct http_connections *connections,
				  struct http_connection *connection, size_t len, uint64_t now_ns);
/*
 * All has been handed over: until http_connections_take_parked(), it is not the peer that is waited
 * for. At @end_ns it is over.
 */
void http_connections_park(struct http_connections *connections, struct http_connection *connection,
			   void *handle, uint64_t end_ns);
/*
 * The handle of one that was parked and is no longer; NULL: none is. @now_ns: one that is over by
 * then; 0: any. @from: 0 for the first; each is given once.
 */
void *http_connections_take_parked(struct http_connections *connections, uint64_t now_ns,
				   unsigned *from);
unsigned http_connections_parked(const struct http_connections *connections);
/*
 * Is there room for one more page, for @newcomer, to be read or waited for? If not, a reader is
 * cut: the one without progress for the longest, of the address that reads the most pages. It is
 * cut at once if that address has more than its share compared with the newcomer's, and never for
 * an address with more pages than its own; otherwise after HTTP_YIELD without progress, or after
 * HTTP_FAIR of reading when the newcomer has waited for HTTP_STUCK. false: none can be cut yet.
 */
bool http_connections_room(struct http_connections *connections,
			   const struct http_connection *newcomer, uint64_t now_ns);
/*
 * Frees memory of one of two bodies: cuts those readers of both that have made no progress for
 * HTTP_STUCK. If a reader makes progress with the @newest body, readers of the @old body that have
 * been reading for HTTP_FAIR are cut, too; so a reader over a slow link loses its page only to
 * another one that really reads. Returns how many readers of @old are still being waited for,
 * without those that were cut just now.
 */
unsigned http_connections_cut_readers(struct http_connections *connections, const void *old,
				      const void *newest, uint64_t now_ns);
