// SPDX-License-Identifier: Apache-2.0
/*
 * http-get [OPTIONS] URL... - what the HTTP client says of each URL, a line each:
 *
 *     RESULT STATUS RETRY_AFTER_MS BYTES REACHED CONNECTED STATUS_TOLD DIAGNOSIS
 *
 * --heard NAME prints a line of that header's value before. All of them go through one client. The
 * last body goes to --body. --idle is a deadline that moves with each piece of the body.
 * --cancel-ms ends everything after so long from another thread.
 */
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"
#include "net/http_client.h"

static struct {
	int fd;
	uint64_t after_ms;
} cancel = { .fd = -1 };

struct sink {
	FILE *body;
	const char *heard;
	int status;
	uint64_t idle_ms, deadline_ns; /* 0 none */
};

static void *cancel_later(void *unused)
{
	struct timespec pause = { .tv_sec = (time_t)(cancel.after_ms / 1000),
				  .tv_nsec = (long)(cancel.after_ms % 1000 * NSEC_PER_MSEC) };

	(void)nanosleep(&pause, NULL);
	(void)eventfd_write(cancel.fd, 1);
	return unused;
}

static void move_deadline(struct sink *sink)
{
	if (sink->idle_ms)
		sink->deadline_ns = clock_ns(CLOCK_MONOTONIC) + sink->idle_ms * NSEC_PER_MSEC;
}

static void take_status(void *userdata, int status)
{
	struct sink *sink = userdata;

	sink->status = status;
	move_deadline(sink);
}

static void take_header(void *userdata, const char *name, size_t name_len, const char *value,
			size_t value_len)
{
	const struct sink *sink = userdata;

	if (sink->heard && name_len == strlen(sink->heard) &&
	    strncasecmp(name, sink->heard, name_len) == 0)
		(void)printf("[%.*s]\n", (int)value_len, value);
}

static int take_body(void *userdata, const char *bytes, size_t len)
{
	struct sink *sink = userdata;

	move_deadline(sink);
	if (sink->body && fwrite(bytes, 1, len, sink->body) != len)
		return -EIO;
	return 0;
}

static uint64_t number(const char *text)
{
	uint64_t value = 0;

	if (parse_u64(text, strlen(text), &value) < 0) {
		(void)fprintf(stderr, "no number: %s\n", text);
		exit(2);
	}
	return value;
}

struct arguments {
	struct http_client_options client;
	struct http_request_options request;
	const char *body, *heard;
	uint64_t idle_ms;
};

static void get(struct http_client *client, struct arguments *arguments, const char *url)
{
	const char *body = arguments->body;
	struct sink sink = { .body = body ? fopen(body, "w") : NULL,
			     .heard = arguments->heard,
			     .idle_ms = arguments->idle_ms };
	struct diag diag = { "" };
	struct http_reply reply;
	int r;

	arguments->request.url = url;
	arguments->request.deadline_ns = &sink.deadline_ns;
	r = http_client_get(client, &arguments->request, take_body, &sink, &reply, &diag);
	(void)printf("%s %d %llu %llu %d %d %d %s\n", r < 0 ? strerrorname_np(-r) : "0",
		     reply.status, (unsigned long long)reply.retry_after_ms,
		     (unsigned long long)reply.body_bytes, reply.reached, reply.connected,
		     sink.status, diag.text);
	if (sink.body)
		(void)fclose(sink.body);
}

static const struct option option_names[] = {
	{ "ca", 1, NULL, 'a' },        { "cert", 1, NULL, 'c' },
	{ "key", 1, NULL, 'k' },       { "socket", 1, NULL, 's' },
	{ "token", 1, NULL, 't' },     { "proxy", 0, NULL, 'p' },
	{ "connect", 1, NULL, 'C' },   { "answer", 1, NULL, 'A' },
	{ "idle", 1, NULL, 'I' },      { "timeout", 1, NULL, 'T' },
	{ "max", 1, NULL, 'M' },       { "body", 1, NULL, 'b' },
	{ "cancel-ms", 1, NULL, 'x' }, { "server-name", 1, NULL, 'n' },
	{ "proxy-url", 1, NULL, 'P' }, { "user", 1, NULL, 'u' },
	{ "password", 1, NULL, 'w' },  { "auth-token", 1, NULL, 'X' },
	{ "content", 1, NULL, 'd' },   { "heard", 1, NULL, 'H' },
	{ "insecure", 0, NULL, 'i' },  { "delete", 0, NULL, 'D' },
	{ NULL, 0, NULL, 0 },
};

static void read_text(struct arguments *arguments, int option, const char *text)
{
	const struct {
		int option;
		const char **value;
	} texts[] = {
		{ 'a', &arguments->client.ca_file },
		{ 's', &arguments->client.unix_socket },
		{ 'c', &arguments->client.client_cert_file },
		{ 't', &arguments->request.bearer_token },
		{ 'k', &arguments->client.client_key_file },
		{ 'n', &arguments->client.tls_server_name },
		{ 'P', &arguments->client.proxy_url },
		{ 'b', &arguments->body },
		{ 'u', &arguments->request.user },
		{ 'w', &arguments->request.password },
		{ 'X', &arguments->request.auth_token },
		{ 'd', &arguments->request.content },
		{ 'H', &arguments->heard },
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		if (texts[i].option == option)
			*texts[i].value = text;
	}
}

static void read_number(struct arguments *arguments, int option, const char *text)
{
	const struct {
		int option;
		uint64_t *value;
	} numbers[] = {
		{ 'C', &arguments->request.connect_timeout_ms },
		{ 'A', &arguments->request.answer_timeout_ms },
		{ 'I', &arguments->idle_ms },
		{ 'T', &arguments->request.timeout_ms },
		{ 'M', &arguments->request.max_bytes },
		{ 'x', &cancel.after_ms },
	};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		if (numbers[i].option == option)
			*numbers[i].value = number(text);
	}
}

static void read_arguments(int argc, char **argv, struct arguments *arguments)
{
	int option;

	while ((option = getopt_long(argc, argv, "", option_names, NULL)) >= 0) {
		if (option == '?')
			exit(2);
		if (option == 'p')
			arguments->client.environment_proxy = true;
		arguments->client.insecure |= option == 'i';
		if (option == 'D')
			arguments->request.method = HTTP_DELETE;
		read_text(arguments, option, optarg);
		read_number(arguments, option, optarg);
	}
}

int main(int argc, char **argv)
{
	struct arguments arguments = {
		.client = { .user_agent = "http-get", .cancel_fd = -1 },
		.request = { .accept = "application/json",
			     .status = take_status,
			     .header = take_header,
			     .connect_timeout_ms = 5000 },
	};
	struct http_client *client = NULL;
	struct diag diag = { "" };
	pthread_t thread;

	read_arguments(argc, argv, &arguments);
	if (cancel.after_ms)
		arguments.client.cancel_fd = cancel.fd = eventfd(0, EFD_CLOEXEC);
	if (http_client_new(&arguments.client, &client, &diag) < 0) {
		(void)printf("new: %s\n", diag.text);
		return 1;
	}
	if (cancel.after_ms && pthread_create(&thread, NULL, cancel_later, NULL))
		return 2;
	for (; optind < argc; optind++)
		get(client, &arguments, argv[optind]);
	http_client_free(client);
	if (cancel.after_ms) {
		(void)pthread_join(thread, NULL);
		(void)close(cancel.fd);
	}
	return 0;
}
