// SPDX-License-Identifier: Apache-2.0
/*
 * Every route of the exporter's table, under each way to protect the server: without credentials
 * none is answered but health checks, which reveal only whether Kepler works.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"
#include "kepler/pages/pages.h"
#include "net/server/crypt_library.h"
#include "net/server/http_server.h"
#include "service/heartbeat.h"
#include "snapshot/snapshot.h"
#include "tests/unit/unit.h"

#define TOKEN "0123456789abcdef-of-this-test"
/* bcrypt of "right horse" at cost 4 */
#define USERS                                                                                      \
	"basic_auth_users:\n  alice: "                                                             \
	"$2y$04$abcdefghijklmnopqrstuuLK4yYxcGJwQr33yKnQTmKjI1WQSUD2K\n"

static const char *const open_paths[] = { "/healthz", "/readyz" };

static struct {
	struct config config;
	struct snapshot_holder *holder;
	struct heartbeat heartbeat;
	struct pages pages;
	unsigned asked;
} lab;

static int set_up(void **state)
{
	static const struct page_options options = { .schema = SCHEMA_CLASSIC };
	struct exporter_program program = { .config = &lab.config,
					    .heartbeat = &lab.heartbeat,
					    .pages = &options };

	lab.config.monitor.interval_ns = NSEC_PER_SEC;
	heartbeat_init(&lab.heartbeat, clock_ns(CLOCK_MONOTONIC), 3600 * NSEC_PER_SEC);
	assert_int_equal(snapshot_holder_new(&lab.holder), 0);
	program.holder = lab.holder;
	return pages_init(&lab.pages, &program, NULL);
}

static int tear_down(void **state)
{
	pages_release(&lab.pages);
	snapshot_holder_free(lab.holder);
	return 0;
}

static struct http_server *start(struct http_auth *auth, struct web_security *security,
				 struct http_reviewer reviewer)
{
	static const char *const listen[] = { "127.0.0.1:0" };
	const struct http_options options = { .listen = listen,
					      .listen_count = 1,
					      .routes = lab.pages.routes,
					      .route_count = PAGES_ROUTES,
					      .auth = auth,
					      .security = security,
					      .reviewer = reviewer };
	struct http_server *server = NULL;
	struct diag diag = { "" };

	if (http_server_start(&options, &server, &diag) < 0)
		fail_msg("%s", diag.text);
	return server;
}

static int number_at(const char *text)
{
	uint64_t number = 0;

	assert_int_equal(parse_u64(text, strspn(text, "0123456789"), &number), 0);
	return (int)number;
}

/* The status of the answer to one request. */
static int status_of(const struct http_server *server, const char *method, const char *path,
		     const char *headers)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	char text[1024], name[64];
	size_t len = 0;
	ssize_t got;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(http_server_address(server, 0, name, sizeof(name)), 0);
	address.sin_port = htons((uint16_t)number_at(strrchr(name, ':') + 1));
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	(void)snprintf(text, sizeof(text),
		       "%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n%s\r\n", method,
		       path, headers);
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
	while (len < 12 && (got = recv(fd, text + len, sizeof(text) - 1 - len, 0)) > 0)
		len += (size_t)got;
	(void)close(fd);
	assert_true(len >= 12);
	return number_at(text + strlen("HTTP/1.1 "));
}

static bool is_open(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(open_paths); i++) {
		if (strcmp(path, open_paths[i]) == 0)
			return true;
	}
	return false;
}

/* With these @headers, every route but the open ones has the status @want. */
static void check(const struct http_server *server, const char *headers, int want)
{
	static const char *const methods[] = { "GET", "HEAD", "POST" };
	char path[128];

	for (size_t i = 0; i < PAGES_ROUTES; i++) {
		const struct http_route *route = &lab.pages.routes[i];

		(void)snprintf(path, sizeof(path), "%s%s", route->path,
			       route->prefix ? "anything" : "");
		assert_int_equal(route->is_open, is_open(route->path));
		for (size_t m = 0; m < ARRAY_SIZE(methods); m++) {
			int status = status_of(server, methods[m], path, headers);

			if (is_open(route->path) ? status == want : status != want)
				fail_msg("%s %s with \"%s\": %d", methods[m], path, headers,
					 status);
		}
		(void)snprintf(path, sizeof(path), "%s%s?namespace=shop", route->path,
			       route->prefix ? "anything" : "");
		if (!is_open(route->path))
			assert_int_equal(status_of(server, "GET", path, headers), want);
	}
	assert_int_equal(status_of(server, "GET", "/nowhere", headers), want);
}

#define NO_ONE ((struct http_reviewer){ NULL, NULL })

static void without_a_token(void **state)
{
	struct http_auth *auth = NULL;
	struct http_server *server;

	assert_int_equal(http_auth_parse("f", TOKEN, &auth, NULL), 0);
	server = start(auth, NULL, NO_ONE);
	check(server, "", 401);
	check(server, "Authorization: Bearer wrong-token-of-a-test\r\n", 401);
	check(server, "Authorization: Basic YWxpY2U6cmlnaHQgaG9yc2U=\r\n", 401);
	assert_int_not_equal(
		status_of(server, "GET", "/metrics", "Authorization: Bearer " TOKEN "\r\n"), 401);
	http_server_stop(server);
}

static void without_a_password(void **state)
{
	struct web_security *security = NULL;
	char path[] = "/tmp/kepler-routes-XXXXXX";
	struct diag diag = { "" };
	struct http_server *server;
	int fd = mkstemp(path);

	assert_int_equal(write(fd, USERS, strlen(USERS)), (ssize_t)strlen(USERS));
	(void)close(fd);
	if (crypt_library_load(&diag) < 0)
		fail_msg("%s", diag.text);
	if (web_security_open(path, &security, &diag) < 0)
		fail_msg("%s", diag.text);
	server = start(NULL, security, NO_ONE);
	check(server, "", 401);
	check(server, "Authorization: Bearer " TOKEN "\r\n", 401);
	http_server_stop(server);
	(void)unlink(path);
}

static enum http_verdict refuse(void *userdata, const struct http_question *question)
{
	const enum http_verdict *verdict = userdata;

	lab.asked++;
	assert_non_null(question->token);
	return *verdict;
}

static void without_a_third_party_that_agrees(void **state)
{
	static const struct {
		enum http_verdict verdict;
		int status;
	} cases[] = {
		{ HTTP_UNAUTHORIZED, 401 }, { HTTP_FORBIDDEN, 403 }, { HTTP_UNREVIEWED, 503 },
		{ HTTP_CROWDED, 503 },      { HTTP_MALFORMED, 400 },
	};
	enum http_verdict verdict = HTTP_UNAUTHORIZED;
	struct http_server *server = start(NULL, NULL, (struct http_reviewer){ refuse, &verdict });

	check(server, "", 401);
	check(server, "Authorization: Basic YWxpY2U6cmlnaHQgaG9yc2U=\r\n", 401);
	assert_int_equal(lab.asked, 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		verdict = cases[i].verdict;
		for (size_t r = 0; r < PAGES_ROUTES; r++) {
			const struct http_route *route = &lab.pages.routes[r];

			if (!route->is_open)
				assert_int_equal(status_of(server, "GET", route->path,
							   "Authorization: Bearer " TOKEN "\r\n"),
						 cases[i].status);
		}
	}
	assert_int_equal(lab.asked, ARRAY_SIZE(cases) * (PAGES_ROUTES - ARRAY_SIZE(open_paths)));
	http_server_stop(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_token),
		cmocka_unit_test(without_a_password),
		cmocka_unit_test(without_a_third_party_that_agrees),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
