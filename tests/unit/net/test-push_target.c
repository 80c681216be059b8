// SPDX-License-Identifier: Apache-2.0
/* Against a server of one answer, which keeps what it was sent. */
#include "net/push_target.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"

#define PATIENCE_MS 20000

struct receiver {
	int fd;
	char url[64];
	const char *answer;
	bool floods; /* with the answer's body, until the client has enough */
	char request[8192];
	size_t len;
	pthread_t thread;
};

static bool is_whole(const struct receiver *receiver)
{
	return receiver->len >= 4 && memcmp(receiver->request + receiver->len - 4, "BODY", 4) == 0;
}

static void *receive(void *userdata)
{
	static const char zeros[65536];
	struct receiver *receiver = userdata;
	int peer = accept(receiver->fd, NULL, NULL);
	struct pollfd ready = { .fd = peer, .events = POLLIN };

	while (!is_whole(receiver) && poll(&ready, 1, PATIENCE_MS) == 1) {
		ssize_t n = recv(peer, receiver->request + receiver->len,
				 sizeof(receiver->request) - 1 - receiver->len, 0);

		if (n <= 0)
			break;
		receiver->len += (size_t)n;
	}
	(void)send(peer, receiver->answer, strlen(receiver->answer), MSG_NOSIGNAL);
	while (receiver->floods && send(peer, zeros, sizeof(zeros), MSG_NOSIGNAL) > 0)
		continue;
	(void)close(peer);
	return NULL;
}

static void receiver_start(struct receiver *receiver, const char *answer)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);

	receiver->answer = answer;
	receiver->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(receiver->fd, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(receiver->fd, 1), 0);
	assert_int_equal(getsockname(receiver->fd, (struct sockaddr *)&address, &len), 0);
	(void)snprintf(receiver->url, sizeof(receiver->url), "http://127.0.0.1:%u/push",
		       ntohs(address.sin_port));
	assert_int_equal(pthread_create(&receiver->thread, NULL, receive, receiver), 0);
}

static void receiver_stop(struct receiver *receiver)
{
	assert_int_equal(pthread_join(receiver->thread, NULL), 0);
	assert_int_equal(close(receiver->fd), 0);
}

static char empty[] = "";
static const struct push_target_options none = {
	.user = empty,
	.password_file = empty,
	.token_file = empty,
	.ca_file = empty,
	.client_cert_file = empty,
	.client_key_file = empty,
	.proxy_url = empty,
	.timeout_ns = PATIENCE_MS * NSEC_PER_MSEC,
};

static void push(const struct push_target_options *options, const char *url,
		 struct push_answer *ret)
{
	static const struct http_header version = { "X-Version", "2" };
	static const struct push_message message = { .content = "BINARY\0BODY",
						     .content_len = 11,
						     .content_type = "application/x-protobuf",
						     .content_encoding = "snappy",
						     .headers = &version,
						     .header_count = 1 };
	struct push_target *target;
	struct diag diag = { "" };

	assert_int_equal(push_target_open(options, url, "kepler", -1, &target, &diag), 0);
	assert_int_equal(push_target_send(target, &message, ret, &diag), 0);
	push_target_close(target);
}

/* "ret" is static. */
static char *write_secret(const char *text)
{
	static char path[] = "/tmp/test-push-XXXXXX";
	int fd;

	memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
	fd = mkstemp(path);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(close(fd), 0);
	return path;
}

static void a_message_has_headers_of_its_protocol_and_of_the_user(void **state)
{
	char header[] = "X-Scope-OrgID=a=b c", user[] = "me", *password = write_secret("pa:ss\n");
	struct push_target_options options = none;
	struct receiver receiver = { 0 };
	struct push_answer answer = { 0 };
	static const char *const wanted[] = {
		"POST /push HTTP/1.1\r\n",
		"\r\nContent-Type: application/x-protobuf\r\n",
		"\r\nContent-Encoding: snappy\r\n",
		"\r\nContent-Length: 11\r\n",
		"\r\nX-Version: 2\r\n",
		"\r\nX-Scope-OrgID: a=b c\r\n",
		"\r\nAuthorization: Basic bWU6cGE6c3M=\r\n", /* me:pa:ss */
	};

	options.headers[0] = header;
	options.header_count = 1;
	options.user = user;
	options.password_file = password;
	receiver_start(&receiver, "HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 9\r\n\r\n"
				  "too\tmany\n");
	push(&options, receiver.url, &answer);
	receiver_stop(&receiver);
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++)
		assert_non_null(strstr(receiver.request, wanted[i]));
	assert_null(strstr(receiver.request, "Expect"));
	assert_memory_equal(receiver.request + receiver.len - 11, "BINARY\0BODY", 11);
	assert_int_equal(answer.status, 429);
	assert_int_equal(answer.retry_after_ms, 7000);
	assert_false(answer.is_cut);
	push_answer_text(&answer, header, 8);
	assert_string_equal(header, "too man");
	push_answer_release(&answer);
	assert_int_equal(unlink(password), 0);
}

static void a_token_is_read_for_each_message(void **state)
{
	char *path = write_secret("first");
	struct push_target_options options = none;
	static const char *const tokens[] = { "first", "second" };

	options.token_file = path;
	for (size_t i = 0; i < ARRAY_SIZE(tokens); i++) {
		struct receiver receiver = { 0 };
		struct push_answer answer = { 0 };
		char wanted[64];
		FILE *file = fopen(path, "we");

		assert_true(fputs(tokens[i], file) >= 0);
		assert_int_equal(fclose(file), 0);
		receiver_start(&receiver, "HTTP/1.1 204 None\r\n\r\n");
		push(&options, receiver.url, &answer);
		receiver_stop(&receiver);
		(void)snprintf(wanted, sizeof(wanted), "\r\nAuthorization: Bearer %s\r\n",
			       tokens[i]);
		assert_non_null(strstr(receiver.request, wanted));
		assert_int_equal(answer.status, 204);
		push_answer_release(&answer);
	}
	assert_int_equal(unlink(path), 0);
}

static void an_answer_counts_although_its_body_is_a_lie(void **state)
{
	static const struct {
		const char *answer;
		bool floods;
	} cases[] = {
		{ "HTTP/1.1 200 Fine\r\nContent-Length: 1000\r\n\r\nshort", false },
		{ "HTTP/1.1 200 Fine\r\nContent-Length: 1073741824\r\n\r\n", true },
		{ "HTTP/1.1 200 Fine\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct receiver receiver = { .floods = cases[i].floods };
		struct push_answer answer = { 0 };

		receiver_start(&receiver, cases[i].answer);
		push(&none, receiver.url, &answer);
		receiver_stop(&receiver);
		assert_int_equal(answer.status, 200);
		assert_true(answer.is_cut);
		assert_true(answer.body.len <= PUSH_ANSWER_MAX);
		push_answer_release(&answer);
	}
}

static void what_may_not_be_set(void **state)
{
	static const char *const refused[] = {
		"Host=a",
		"content-length=0",
		"Content-Encoding=gzip",
		"expect=x",
		"Connection=",
		"Transfer-Encoding=chunked",
		"X-Prometheus-Remote-Write-Version=1",
		"X-A",
		"X-A=",
		"=a",
		"X A=b",
		"X-A= b",
		"X-A=b ",
		"X-A=b\nc",
		"X:=b",
	};
	struct diag diag;

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		assert_int_equal(push_target_check_header(refused[i], &diag), -EINVAL);
	assert_int_equal(push_target_check_header("Authorization=Basic YTpi", &diag), 0);
	assert_int_equal(push_target_check_url("http://a:9090/api/v1/write", &diag), 0);
	assert_int_equal(push_target_check_url("http://a:b@c/", &diag), -EINVAL);
	assert_int_equal(push_target_check_url("file:///etc/passwd", &diag), -EINVAL);
	assert_int_equal(push_target_check_url("https://", &diag), -EINVAL);
	assert_int_equal(push_target_check_proxy("https://a:1", &diag), -EINVAL);
	assert_int_equal(push_target_check_proxy("socks5h://a:1", &diag), 0);
}

static void secrets_do_not_leave_this_machine_in_clear_text(void **state)
{
	struct push_target_options user = none, header = none, proxy = none;
	char name[] = "me", key[] = "X-Api-Key=x", url[] = "http://127.0.0.2:1";
	struct push_target *target;
	struct diag diag;

	user.user = name;
	header.headers[0] = key;
	header.header_count = 1;
	proxy.user = name;
	proxy.proxy_url = url;
	assert_int_equal(push_target_open(&user, "http://a.example/", "k", -1, &target, &diag),
			 -EINVAL);
	assert_int_equal(push_target_open(&header, "http://a.example/", "k", -1, &target, &diag),
			 -EINVAL);
	assert_int_equal(push_target_open(&proxy, "http://localhost/", "k", -1, &target, &diag),
			 -EINVAL);
	assert_int_equal(push_target_open(&header, "https://a.example/", "k", -1, &target, &diag),
			 0);
	push_target_close(target);
	assert_int_equal(push_target_open(&user, "http://[::1]:9/", "k", -1, &target, &diag), 0);
	push_target_close(target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_has_headers_of_its_protocol_and_of_the_user),
		cmocka_unit_test(a_token_is_read_for_each_message),
		cmocka_unit_test(an_answer_counts_although_its_body_is_a_lie),
		cmocka_unit_test(what_may_not_be_set),
		cmocka_unit_test(secrets_do_not_leave_this_machine_in_clear_text),
	};

	return unit_run(tests);
}
