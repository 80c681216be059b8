// SPDX-License-Identifier: Apache-2.0
/*
 * A thousand scrapers at once, and 300 peers that only connect: every client that asks gets an
 * answer in time, memory stays, and new snapshots are shown meanwhile.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/macro.h"
#include "export/prometheus.h"
#include "tests/unit/export/fixture.h"

#define CLIENTS 1000
#define SILENT  300
/* gcc defines a macro, clang has a feature. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED true
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define SANITIZED true
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif
/*
 * Measured: 1.0 s on two CPUs, with sanitizers or without, for a second is what a client waits that
 * connects again; with sanitizers and two burners on each CPU 1.1 to 2.0 s. Four times that.
 */
#define P99_NS     (SANITIZED ? 8 * NSEC_PER_SEC : 2 * NSEC_PER_SEC)
#define GIVE_UP_NS (60 * NSEC_PER_SEC)
#define GROWTH_MAX (50UL << 20)
#define PUBLISH_NS (100 * NSEC_PER_MSEC)
#define HEAD_MAX   2048
#define REQUEST    "GET /metrics HTTP/1.1\r\nHost: h\r\nAccept-Encoding: gzip\r\n\r\n"

struct client {
	int fd;
	bool asked, done;
	char head[HEAD_MAX];
	size_t head_len, got, want;
	uint64_t begin_ns, took_ns;
	unsigned status;
	bool retry_after;
};

static const struct page_options classic = { .schema = SCHEMA_CLASSIC };
static struct client clients[CLIENTS];

static unsigned long resident_bytes(void)
{
	char text[256];
	unsigned long pages = 0;

	if (read_file_at(AT_FDCWD, "/proc/self/statm", text, sizeof(text)) > 0)
		(void)sscanf(text, "%*u %lu", &pages);
	return pages * (unsigned long)sysconf(_SC_PAGESIZE);
}

static int dial(const struct sockaddr_in *to)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_true(connect(fd, (const struct sockaddr *)to, sizeof(*to)) == 0 ||
		    errno == EINPROGRESS);
	return fd;
}

static void read_head(struct client *client)
{
	const char *end, *length;

	client->head[client->head_len] = '\0';
	end = strstr(client->head, "\r\n\r\n");
	if (!end)
		return;
	client->status = (unsigned)strtoul(client->head + strlen("HTTP/1.1 "), NULL, 10);
	client->retry_after = strstr(client->head, "Retry-After") != NULL;
	length = strstr(client->head, "Content-Length: ");
	assert_non_null(length);
	client->want = strtoul(length + strlen("Content-Length: "), NULL, 10) +
		       (size_t)(end + 4 - client->head);
}

static void finish(struct client *client)
{
	client->done = true;
	client->took_ns = clock_ns(CLOCK_MONOTONIC) - client->begin_ns;
	close(client->fd);
}

static void advance(struct client *client)
{
	static char sink[1 << 16];
	ssize_t n;

	if (!client->asked) {
		client->asked = send(client->fd, REQUEST, strlen(REQUEST), MSG_NOSIGNAL) ==
				(ssize_t)strlen(REQUEST);
		return;
	}
	while ((n = recv(client->fd, sink, sizeof(sink), 0)) > 0) {
		size_t keep = HEAD_MAX - 1 - client->head_len;

		if (!client->want) {
			keep = keep < (size_t)n ? keep : (size_t)n;
			memcpy(client->head + client->head_len, sink, keep);
			client->head_len += keep;
			read_head(client);
		}
		client->got += (size_t)n;
	}
	if (n == 0 || (n < 0 && errno != EAGAIN) || (client->want && client->got >= client->want))
		finish(client);
}

static unsigned run_clients(const struct sockaddr_in *to, struct fixture fixtures[2])
{
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC), published_ns = begin_ns;
	unsigned left = CLIENTS, published = 0;

	for (unsigned i = 0; i < CLIENTS; i++) {
		struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLET,
					     .data.ptr = &clients[i] };

		clients[i] =
			(struct client){ .fd = dial(to), .begin_ns = clock_ns(CLOCK_MONOTONIC) };
		assert_int_equal(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, clients[i].fd, &event), 0);
	}
	while (left > 0 && clock_ns(CLOCK_MONOTONIC) - begin_ns < GIVE_UP_NS) {
		struct epoll_event events[64];
		int n = epoll_wait(epoll_fd, events, 64, 20);

		for (int i = 0; i < n; i++) {
			struct client *client = events[i].data.ptr;

			if (!client->done)
				advance(client);
			left -= client->done;
		}
		if (clock_ns(CLOCK_MONOTONIC) - published_ns >= PUBLISH_NS) {
			published_ns = clock_ns(CLOCK_MONOTONIC);
			published++;
			fixtures[published % 2].snapshot.sequence = 100 + published;
			fixture_hold(&fixtures[published % 2].snapshot);
		}
	}
	close(epoll_fd);
	return left;
}

static int by_time(const void *a, const void *b)
{
	const struct client *x = a, *y = b;

	return (x->took_ns > y->took_ns) - (x->took_ns < y->took_ns);
}

static void check_answers(void)
{
	unsigned served = 0;

	for (unsigned i = 0; i < CLIENTS; i++) {
		const struct client *client = &clients[i];

		assert_true(client->status == 200 ||
			    (client->status == 503 && client->retry_after));
		assert_int_equal(client->got, client->want);
		served += client->status == 200;
	}
	qsort(clients, CLIENTS, sizeof(*clients), by_time);
	print_message("%u of %d with 200, p50 %.0f ms, p99 %.0f ms\n", served, CLIENTS,
		      (double)clients[CLIENTS / 2].took_ns / 1e6,
		      (double)clients[CLIENTS * 99 / 100].took_ns / 1e6);
	assert_true(clients[CLIENTS * 99 / 100].took_ns < P99_NS);
}

static void a_thousand_scrapers_are_served(void **state)
{
	static const char *const listen[] = { "127.0.0.1:0" };
	static const struct fixture_shape shape = { .zones = 3,
						    .containers = 50,
						    .processes = 2500 };
	struct http_route route = { .path = "/metrics", .handler = page_cache_handle_metrics };
	struct http_options options = {
		.listen = listen, .listen_count = 1, .routes = &route, .route_count = 1
	};
	struct sockaddr_in to = { .sin_family = AF_INET };
	struct fixture fixtures[2];
	struct page_cache *cache;
	struct http_server *server;
	unsigned long before;
	char address[64];
	int silent[SILENT];

	(void)state;
	fixture_make(&fixtures[0], &shape);
	fixture_make(&fixtures[1], &shape);
	fixture_hold(&fixtures[0].snapshot);
	assert_int_equal(page_cache_new(&prometheus_pages, NULL, &classic, &cache), 0);
	route.userdata = cache;
	assert_int_equal(http_server_start(&options, &server, NULL), 0);
	page_cache_set_http(cache, server);
	assert_int_equal(http_server_address(server, 0, address, sizeof(address)), 0);
	to.sin_port = htons((uint16_t)strtoul(strrchr(address, ':') + 1, NULL, 10));
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	before = resident_bytes();
	for (unsigned i = 0; i < SILENT; i++)
		silent[i] = dial(&to);
	assert_int_equal(run_clients(&to, fixtures), 0);
	check_answers();
	print_message("memory grew by %lu KiB\n", (resident_bytes() - before) >> 10);
	if (!SANITIZED) /* which keeps freed memory for a while */
		assert_true(resident_bytes() < before + GROWTH_MAX);
	for (unsigned i = 0; i < SILENT; i++)
		close(silent[i]);
	http_server_stop(server);
	page_cache_free(cache);
	fixture_release(&fixtures[0]);
	fixture_release(&fixtures[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_thousand_scrapers_are_served) };
	struct rlimit limit;

	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max < 3000) {
		(void)printf("1..0 # SKIP fewer than 3000 file descriptors are allowed\n");
		return 0;
	}
	limit.rlim_cur = limit.rlim_max < 8192 ? limit.rlim_max : 8192;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
