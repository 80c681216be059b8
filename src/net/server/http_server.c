// SPDX-License-Identifier: Apache-2.0
/*
 * One thread, one loop: our own listening sockets, and libmicrohttpd's epoll descriptor beside
 * them. The library parses and sends; which peer is accepted, for how long, and which is cut is
 * decided here (http_connections.h), because the library's only limit is "no byte for a while".
 *
 * When all connections are taken, new ones wait in the backlog. A connection that has then kept the
 * server waiting for HTTP_PATIENCE is cut, and one that has not sent the beginning of a request
 * (http_opening.h) in as long in the backlog gets none: peers that are silent, drip, or stop in the
 * handshake of TLS, however many, cannot keep out one that sends its request at once. Peers that
 * read slowly never get all connections: they are cut for one another, and a request without room
 * for its page is suspended until the connection that was cut is closed.
 */
#include "net/server/http_server.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/abstract.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/macro.h"
#include "base/thread.h"
#include "net/server/http_answer.h"
#include "net/server/http_connections.h"
#include "net/server/http_listen.h"
#include "net/server/http_stream.h"

/* For one connection: request line and headers, raw and parsed, and the answer's headers. */
#define HEADER_MEMORY    (HTTP_HEADER_MAX + 8192)
#define SWEEP_EVERY_MS   250
#define SWEEP_PARKED_MS  2000 /* while all peers only wait for us */
#define CROWDED_RETRY_MS 20   /* while full: look again whether a connection may be cut by now */
#define SPARE_FDS        2    /* for connections, when all other descriptors are in use */
#define ACCEPT_BATCH     32   /* a listener and turn, so that those inside are served too */
#define LISTENERS_MAX    8
#define TLS_PRIORITIES   "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

struct http_server {
	struct MHD_Daemon *daemon;
	struct http_answerer answerer;
	struct http_connections connections;
	struct http_listener listeners[LISTENERS_MAX];
	size_t listener_count;
	int epoll_fd;
	int stop_fd;
	int wake_fd;  /* 0: none */
	bool crowded; /* the listeners are out of epoll_fd */
	bool starved; /* no descriptor for a connection */
	int spare_fds[SPARE_FDS];
	unsigned spare_count;
	unsigned ended_seen; /* of connections.ended, when requests were last asked again */
	uint64_t asked_again_ns;
	pthread_t thread;
	bool started;
};

static void log_from_library(void *cls, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));
static void log_from_library(void *cls, const char *fmt, va_list ap)
{
	char line[LOG_LINE_MAX / 2];
	int len;

	(void)cls;
	len = vsnprintf(line, sizeof(line), fmt, ap);
	while (len > 0 && (size_t)len < sizeof(line) && line[len - 1] == '\n')
		line[--len] = '\0';
	log_debug("http: %s", line);
}

static void panic_from_library(void *cls, const char *file, unsigned line, const char *reason)
{
	(void)cls;
	log_debug("http: libmicrohttpd gave up at %s:%u: %s", file, line, reason ? reason : "");
	abort(); /* it must not return: it has found memory corruption */
}

static int watch(int epoll_fd, int op, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	return epoll_ctl(epoll_fd, op, fd, &event) < 0 ? -errno : 0;
}

/*
 * Takes the listeners out of the loop or back in. Failure cannot happen: the descriptors are
 * registered.
 */
static void set_crowded(struct http_server *server, bool crowded)
{
	if (server->crowded == crowded)
		return;
	server->crowded = crowded;
	for (size_t i = 0; i < server->listener_count; i++)
		(void)watch(server->epoll_fd, EPOLL_CTL_MOD, server->listeners[i].fd,
			    crowded ? 0 : EPOLLIN);
}

static bool has_room(struct http_server *server)
{
	return http_connections_used(&server->connections) < server->connections.max;
}

/*
 * The rest of the program may have used up all descriptors: some are reserved at the start, and
 * those that a connection releases are reserved again.
 */
static void keep_spares(struct http_server *server)
{
	while (server->spare_count < SPARE_FDS) {
		int fd = fcntl(server->stop_fd, F_DUPFD_CLOEXEC, 0);

		if (fd < 0)
			return;
		server->spare_fds[server->spare_count++] = fd;
	}
	server->starved = false;
}

static bool give_spare(struct http_server *server)
{
	if (!server->spare_count)
		return false;
	(void)close(server->spare_fds[--server->spare_count]);
	return true;
}

/* false: no more can be accepted now, because descriptors or memory ran out. */
static bool accept_from(struct http_server *server, int listener)
{
	for (unsigned i = 0; i < ACCEPT_BATCH && has_room(server); i++) {
		struct sockaddr_storage address;
		socklen_t len = sizeof(address);
		int fd = accept4(listener, (struct sockaddr *)&address, &len,
				 SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
			http_count(&server->answerer.stats.accept_errors, 1);
			server->starved = true;
			if (!give_spare(server))
				return false;
			continue;
		}
		if (fd < 0)
			return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
		if (server->crowded && http_connections_was_silent(fd, server->answerer.tls)) {
			http_connections_count_silent(&server->connections);
			(void)close(fd);
			continue;
		}
		/* Closes the descriptor by itself when it fails. */
		if (MHD_add_connection(server->daemon, fd, (struct sockaddr *)&address, len) !=
		    MHD_YES)
			return false;
	}
	return true;
}

static void accept_all(struct http_server *server)
{
	bool fine = true;

	for (size_t i = 0; i < server->listener_count && fine; i++)
		fine = accept_from(server, server->listeners[i].fd);
	set_crowded(server, !fine || !has_room(server));
}

static bool somebody_waits(const struct http_server *server)
{
	struct pollfd fds[LISTENERS_MAX];

	for (size_t i = 0; i < server->listener_count; i++)
		fds[i] = (struct pollfd){ .fd = server->listeners[i].fd, .events = POLLIN };
	return poll(fds, (nfds_t)server->listener_count, 0) > 0;
}

static void relieve(struct http_server *server, uint64_t now_ns)
{
	if ((!has_room(server) || server->starved) && somebody_waits(server))
		(void)http_connections_cut_silent(&server->connections, now_ns);
}

/*
 * There may be room for waiting requests when an answer has ended; they are also retried now and
 * then.
 */
static void ask_again(struct http_server *server, uint64_t now_ns)
{
	unsigned ended = http_connections_ended(&server->connections);

	if (ended == server->ended_seen &&
	    now_ns - server->asked_again_ns < CROWDED_RETRY_MS * NSEC_PER_MSEC)
		return;
	server->ended_seen = ended;
	server->asked_again_ns = now_ns;
	http_answer_resume(&server->answerer);
}

static int sweep_every_ms(const struct http_server *server)
{
	return http_connections_parked(&server->connections) ==
			       http_connections_used(&server->connections)
		       ? SWEEP_PARKED_MS
		       : SWEEP_EVERY_MS;
}

static int loop_timeout_ms(struct http_server *server)
{
	MHD_UNSIGNED_LONG_LONG library_ms;
	int timeout_ms = -1;

	if (server->crowded || http_connections_held(&server->connections) > 0)
		timeout_ms = CROWDED_RETRY_MS;
	else if (http_connections_used(&server->connections) > 0)
		timeout_ms = sweep_every_ms(server);
	if (MHD_get_timeout(server->daemon, &library_ms) == MHD_YES &&
	    (timeout_ms < 0 || library_ms < (MHD_UNSIGNED_LONG_LONG)timeout_ms))
		timeout_ms = (int)(library_ms < 1000 ? library_ms : 1000);
	return timeout_ms;
}

/* false: the server is to stop. */
static bool loop_turn(struct http_server *server, uint64_t *last_sweep_ns)
{
	struct epoll_event events[LISTENERS_MAX + 3];
	int n = epoll_wait(server->epoll_fd, events, ARRAY_SIZE(events), loop_timeout_ms(server));
	bool incoming = server->crowded, woken = false, is_done = false;
	uint64_t now_ns;
	eventfd_t ignored;

	for (int i = 0; i < n; i++) {
		if (events[i].data.fd == server->stop_fd)
			return false;
		woken = woken || (server->wake_fd && events[i].data.fd == server->wake_fd);
		if (server->wake_fd && events[i].data.fd == server->wake_fd)
			continue;
		incoming = incoming || (events[i].events & EPOLLIN && events[i].data.fd >= 0);
	}
	if (server->spare_count < SPARE_FDS)
		keep_spares(server);
	if (incoming)
		accept_all(server);
	if (woken && eventfd_read(server->wake_fd, &ignored) == 0)
		is_done = http_stream_resume(&server->connections, 0) == 0 && n == 1;
	if (!is_done) {
		server->answerer.turn++;
		(void)MHD_run(server->daemon); /* NO means no daemon */
	}
	now_ns = clock_ns(CLOCK_MONOTONIC);
	if (server->crowded)
		relieve(server, now_ns);
	if (http_connections_held(&server->connections) > 0)
		ask_again(server, now_ns);
	if (now_ns - *last_sweep_ns >= NSEC_PER_MSEC * (unsigned)sweep_every_ms(server)) {
		*last_sweep_ns = now_ns;
		http_server_sweep(server, now_ns);
		(void)http_stream_resume(&server->connections, now_ns);
	}
	return true;
}

static void *serve(void *arg)
{
	struct http_server *server = arg;
	uint64_t last_sweep_ns = clock_ns(CLOCK_MONOTONIC);

	(void)pthread_setname_np(pthread_self(), "kepler-http"); /* for debugging only */
	while (loop_turn(server, &last_sweep_ns))
		;
	return NULL;
}

static int open_listeners(struct http_server *server, const struct http_options *options,
			  struct diag *diag)
{
	if (options->listen_count == 0 || options->listen_count > LISTENERS_MAX)
		return diag_set(diag, -EINVAL, "want 1 to %d addresses to listen on",
				LISTENERS_MAX);
	for (size_t i = 0; i < options->listen_count; i++) {
		struct http_listener *listener = &server->listeners[server->listener_count];
		int r = http_listen(options->listen[i], options->socket_mode, listener, diag);

		if (r < 0)
			return r;
		server->listener_count++;
	}
	return 0;
}

static bool has_web_tls(const struct http_options *options)
{
	return options->security && options->security->tls;
}

/*
 * The library's own certificate where each connection gets one of the web configuration: none, so
 * that a connection that got none has no handshake.
 */
static int no_certificate(gnutls_session_t session, const gnutls_datum_t *request,
			  int request_count, const gnutls_pk_algorithm_t *algorithms,
			  int algorithm_count, gnutls_pcert_st **pcert, unsigned *pcert_count,
			  gnutls_privkey_t *key)
{
	(void)session;
	(void)request;
	(void)request_count;
	(void)algorithms;
	(void)algorithm_count;
	(void)pcert;
	(void)pcert_count;
	(void)key;
	return -1;
}

static int start_daemon(struct http_server *server, const struct http_options *options)
{
	struct http_answerer *answerer = &server->answerer;
	/* A pointer that is NULL ends nothing: the list of options is empty without TLS. */
	struct MHD_OptionItem tls[] = {
		{ MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)options->tls_certificate },
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)options->tls_key },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)TLS_PRIORITIES },
		{ MHD_OPTION_END, 0, NULL },
	};
	struct MHD_OptionItem web_tls[] = {
		{ MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)(uintptr_t)no_certificate },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)TLS_PRIORITIES },
		{ MHD_OPTION_END, 0, NULL },
	};
	unsigned tls_flag = answerer->tls ? MHD_USE_TLS : 0;

	MHD_set_panic_func(panic_from_library, NULL);
	errno = 0;
	/*
	 * Room beyond our own limit: a connection that was cut exists until the library has closed
	 * it.
	 */
	server->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG |
			MHD_ALLOW_SUSPEND_RESUME | tls_flag,
		0, NULL, NULL, http_answer_request, answerer, MHD_OPTION_EXTERNAL_LOGGER,
		log_from_library, NULL, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_MEMORY,
		MHD_OPTION_CONNECTION_LIMIT, server->connections.max + 1,
		MHD_OPTION_NOTIFY_COMPLETED, http_answer_completed, answerer,
		MHD_OPTION_NOTIFY_CONNECTION, http_answer_connection, answerer,
		MHD_OPTION_UNESCAPE_CALLBACK, http_answer_no_unescape, NULL, MHD_OPTION_ARRAY,
		has_web_tls(options) ? web_tls
		: tls_flag           ? tls
				     : &tls[ARRAY_SIZE(tls) - 1],
		MHD_OPTION_END);
	return server->daemon ? 0 : errno ? -errno : -ENOMEM;
}

static int start_watching(struct http_server *server)
{
	int library_fd = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
	struct epoll_event event = { .events = EPOLLIN, .data.fd = -1 };
	int r;

	server->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	server->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (server->epoll_fd < 0 || server->stop_fd < 0)
		return -errno;
	if (epoll_ctl(server->epoll_fd, EPOLL_CTL_ADD, library_fd, &event) < 0)
		return -errno;
	r = watch(server->epoll_fd, EPOLL_CTL_ADD, server->stop_fd, EPOLLIN);
	if (r == 0 && server->wake_fd)
		r = watch(server->epoll_fd, EPOLL_CTL_ADD, server->wake_fd, EPOLLIN);
	for (size_t i = 0; i < server->listener_count && r == 0; i++)
		r = watch(server->epoll_fd, EPOLL_CTL_ADD, server->listeners[i].fd, EPOLLIN);
	keep_spares(server);
	return r;
}

/* Signals are for the program's own thread: SIGPIPE, too, never comes up here. */
static int start_thread(struct http_server *server)
{
	int r = thread_start(&server->thread, 0, serve, server);

	server->started = r == 0;
	return r;
}

/* The tokens are taken over, and another reference to the web configuration is. */
static int open_gate(struct http_server *server, const struct http_options *options,
		     struct diag *diag)
{
	struct http_gate *gate = &server->answerer.gate;
	struct web_security *security = web_security_ref(options->security);
	int r = http_gate_set_security(gate, security, diag);

	if (r < 0)
		web_security_unref(security);
	else
		gate->tokens = options->auth;
	gate->reviewer = options->reviewer;
	return r;
}

static void stop_and_clear(struct http_server **server)
{
	http_server_stop(*server);
	*server = NULL;
}

int http_server_start(const struct http_options *options, struct http_server **ret,
		      struct diag *diag)
{
	unsigned max = options->max_connections ? options->max_connections : 128;
	CLEANUP(stop_and_clear) struct http_server *server = calloc(1, sizeof(*server));
	int r;

	if (!server)
		return diag_set(diag, -ENOMEM, "out of memory");
	server->epoll_fd = server->stop_fd = -1;
	server->wake_fd = options->wake_fd;
	r = open_listeners(server, options, diag);
	if (r < 0)
		return r;
	server->answerer = (struct http_answerer){
		.connections = &server->connections,
		.routes = options->routes,
		.route_count = options->route_count,
		.hosts = options->hosts,
		.busy_connections = max - max / 4,
		.tls = options->tls_certificate || has_web_tls(options),
		.own_credentials = options->tls_certificate,
		.max_bodies = options->max_bodies ? options->max_bodies : max,
	};
	http_gate_init(&server->answerer.gate);
	if (!http_listen_is_open(options->listen, options->listen_count))
		server->answerer.hosts.own = NULL;
	http_refused_init(&server->answerer.refused);
	r = http_connections_init(&server->connections, max);
	if (r == 0)
		r = start_daemon(server, options);
	if (r == 0)
		r = start_watching(server);
	if (r == 0) {
		r = open_gate(server, options, diag);
		if (r < 0)
			return r;
		r = start_thread(server);
		if (r < 0)
			server->answerer.gate.tokens = NULL; /* it is not taken over */
		else
			web_security_unref(options->security);
	}
	if (r == -EMFILE || r == -ENFILE)
		return diag_set(diag, r,
				"cannot start the HTTP server: %s; raise the limit (LimitNOFILE=, "
				"ulimit -n)",
				strerror(-r));
	if (r < 0)
		return diag_set(diag, r, "cannot start the HTTP server: %s", strerror(-r));
	*ret = TAKE_PTR(server);
	return 0;
}

void http_server_stop(struct http_server *server)
{
	if (!server)
		return;
	if (server->started) {
		/* Fails only when the counter is full, and then it is readable already. */
		(void)eventfd_write(server->stop_fd, 1);
		(void)pthread_join(server->thread, NULL);
		http_answer_resume(&server->answerer); /* none may be suspended */
		(void)http_stream_resume(&server->connections, UINT64_MAX);
	}
	for (size_t i = 0; i < server->listener_count; i++)
		http_unlisten(&server->listeners[i]);
	if (server->daemon)
		MHD_stop_daemon(server->daemon); /* closes connections: needs their table */
	http_connections_release(&server->connections);
	http_gate_release(&server->answerer.gate);
	while (give_spare(server))
		;
	if (server->epoll_fd >= 0)
		(void)close(server->epoll_fd);
	if (server->stop_fd >= 0)
		(void)close(server->stop_fd);
	free(server);
}

int http_server_address(const struct http_server *server, size_t index, char *buf, size_t size)
{
	if (index >= server->listener_count)
		return -ERANGE;
	return http_listen_address(&server->listeners[index], buf, size);
}

bool http_server_has_tls(const struct http_server *server)
{
	return server->answerer.tls;
}

void http_server_set_auth(struct http_server *server, struct http_auth *auth)
{
	http_gate_set_tokens(&server->answerer.gate, auth);
}

int http_server_set_security(struct http_server *server, struct web_security *security,
			     struct diag *diag)
{
	bool tls = security->tls,
	     has_tls = server->answerer.tls && !server->answerer.own_credentials;

	if (tls != has_tls)
		return diag_set(diag, -EINVAL, "tls_server_config was %s, which needs a restart",
				tls ? "added" : "removed");
	return http_gate_set_security(&server->answerer.gate, security, diag);
}

void http_server_sweep(struct http_server *server, uint64_t now_ns)
{
	(void)http_connections_sweep(&server->connections, now_ns);
}

void http_server_hurry(struct http_server *server, const void *old, const void *newest)
{
	(void)http_connections_cut_readers(&server->connections, old, newest,
					   clock_ns(CLOCK_MONOTONIC));
}

const char *http_server_take_refused(struct http_server *server)
{
	return http_refused_take(&server->answerer.refused);
}

void http_server_get_stats(const struct http_server *server, struct http_stats *ret)
{
	const struct http_stats *stats = &server->answerer.stats;
	const struct http_basic_stats passwords = http_gate_password_stats(&server->answerer.gate);

	*ret = (struct http_stats){
		.password_comparisons = passwords.comparisons,
		.passwords_wrong = passwords.wrong,
		.passwords_busy = passwords.busy,
		.limited = __atomic_load_n(&stats->limited, __ATOMIC_RELAXED),
		.certificates_refused =
			__atomic_load_n(&stats->certificates_refused, __ATOMIC_RELAXED),
		.connections = http_connections_used(&server->connections),
		.connections_total = __atomic_load_n(&stats->connections_total, __ATOMIC_RELAXED),
		.unauthorized = __atomic_load_n(&stats->unauthorized, __ATOMIC_RELAXED),
		.misdirected = __atomic_load_n(&stats->misdirected, __ATOMIC_RELAXED),
		.accept_errors = __atomic_load_n(&stats->accept_errors, __ATOMIC_RELAXED),
		.bytes_sent = __atomic_load_n(&stats->bytes_sent, __ATOMIC_RELAXED),
	};
	for (size_t i = 0; i < ARRAY_SIZE(ret->requests); i++)
		ret->requests[i] = __atomic_load_n(&stats->requests[i], __ATOMIC_RELAXED);
	for (size_t i = 0; i < ARRAY_SIZE(ret->cuts); i++)
		ret->cuts[i] = __atomic_load_n(&server->connections.cuts[i], __ATOMIC_RELAXED);
}
