// SPDX-License-Identifier: Apache-2.0
#include "model-server/socket_server.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define STALLED 400

static char folder[] = "/tmp/kepler-socket-XXXXXX";
static struct sockaddr_un address = { .sun_family = AF_UNIX };
static struct socket_server *server;
static int listener;

static void answer(void *userdata, const char *request, size_t size, struct strbuf *out)
{
	(void)userdata;
	strbuf_add(out, request, size);
	strbuf_add_char(out, '!');
}

static void refuse(void *userdata, const char *why, struct strbuf *out)
{
	(void)userdata;
	strbuf_add_str(out, why);
}

static int begin(void **state)
{
	struct socket_options options = { .request_max = 100, .answer = answer, .refuse = refuse };

	assert_non_null(mkdtemp(folder));
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", folder);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listener, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 64), 0);
	options.listener = listener;
	server = socket_server_new(&options);
	assert_non_null(server);
	return 0;
}

static int end(void **state)
{
	socket_server_free(server);
	(void)close(listener);
	(void)unlink(address.sun_path);
	(void)rmdir(folder);
	(void)memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
	return 0;
}

static int dial(const char *text)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
	return fd;
}

static void turn(void)
{
	assert_false(socket_server_turn(server, -1, 0));
}

static void assert_is_answered(int fd, const char *expected)
{
	char text[64] = "";

	assert_int_equal(recv(fd, text, sizeof(text) - 1, 0), (ssize_t)strlen(expected));
	assert_string_equal(text, expected);
}

static void requests_come_in_pieces(void **state)
{
	int fd = dial("{\"a\"");

	turn();
	assert_int_equal(send(fd, ":1} {}", 6, MSG_NOSIGNAL), 6);
	turn();
	assert_is_answered(fd, "{\"a\":1}!{}!");
	(void)close(fd);
}

/* They take all places again and again, and no request waits for their deadline. */
static void requests_that_do_not_go_on_keep_no_other_out(void **state)
{
	static int stalled[STALLED];

	for (size_t i = 0; i < STALLED; i++) {
		stalled[i] = dial("{");
		turn();
	}
	for (size_t i = 0; i < STALLED; i++) {
		int honest = dial("{}");

		turn();
		assert_is_answered(honest, "{}!");
		(void)close(honest);
		(void)close(stalled[i]);
		stalled[i] = dial("{");
		turn();
	}
	for (size_t i = 0; i < STALLED; i++)
		(void)close(stalled[i]);
}

/* Each of those that take places goes on, but a request that is whole takes no time. */
static void requests_that_drip_keep_no_other_out(void **state)
{
	int dripping[SOCKET_PEERS_MAX], honest;

	for (size_t i = 0; i < SOCKET_PEERS_MAX; i++) {
		dripping[i] = dial("{");
		turn();
	}
	for (size_t i = 0; i < SOCKET_PEERS_MAX; i++)
		assert_int_equal(send(dripping[i], " ", 1, MSG_NOSIGNAL), 1);
	turn();
	honest = dial("{}");
	turn();
	assert_is_answered(honest, "{}!");
	(void)close(honest);
	for (size_t i = 0; i < SOCKET_PEERS_MAX; i++)
		(void)close(dripping[i]);
}

static void a_refused_client_reads_the_reason_and_the_end(void **state)
{
	static char text[140000] = "{"; /* more than two turns read */
	int fd;

	memset(text + 1, ' ', sizeof(text) - 2);
	fd = dial(text);
	turn();
	turn();
	assert_is_answered(fd, "the request is too long");
	assert_is_answered(fd, "");
	(void)close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(requests_come_in_pieces, begin, end),
		cmocka_unit_test_setup_teardown(requests_that_do_not_go_on_keep_no_other_out, begin,
						end),
		cmocka_unit_test_setup_teardown(requests_that_drip_keep_no_other_out, begin, end),
		cmocka_unit_test_setup_teardown(a_refused_client_reads_the_reason_and_the_end,
						begin, end),
	};

	return unit_run(tests);
}
