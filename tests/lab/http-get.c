// SPDX-License-Identifier: Apache-2.0
/*
 * http-get [OPTIONS] URL... - what the HTTP client says of each URL, a line each:
 *
 *     RESULT STATUS RETRY_AFTER_MS BYTES CONNECTED STATUS_TOLD DIAGNOSIS
 *
 * All of them go through one client. The last body goes to --body. --cancel-ms ends everything
 * after so long from another thread.
 */
#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/macro.h"
#include "base/num.h"
#include "net/http_client.h"

static struct {
	int fd;
	uint64_t after_ms;
} cancel = { .fd = -1 };

struct sink {
	FILE *body;
	int status;
};

static void *cancel_later(void *unused)
{
	struct timespec pause = { .tv_sec = (time_t)(cancel.after_ms / 1000),
				  .tv_nsec = (long)(cancel.after_ms % 1000 * NSEC_PER_MSEC) };

	(void)nanosleep(&pause, NULL);
	(void)eventfd_write(cancel.fd, 1);
	return unused;
}

static void take_status(void *userdata, int status)
{
	struct sink *sink = userdata;

	sink->status = status;
}

static int take_body(void *userdata, const char *bytes, size_t len)
{
	struct sink *sink = userdata;

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

static void get(struct http_client *client, struct http_request_options *request, const char *url,
		const char *body)
{
	struct sink sink = { .body = body ? fopen(body, "w") : NULL };
	struct diag diag = { "" };
	struct http_reply reply;
	int r;

	request->url = url;
	r = http_client_get(client, request, take_body, &sink, &reply, &diag);
	(void)printf("%s %d %llu %llu %d %d %s\n", r < 0 ? strerrorname_np(-r) : "0", reply.status,
		     (unsigned long long)reply.retry_after_ms, (unsigned long long)reply.body_bytes,
		     reply.connected, sink.status, diag.text);
	if (sink.body)
		(void)fclose(sink.body);
}

int main(int argc, char **argv)
{
	static const struct option names[] = {
		{ "ca", 1, NULL, 'a' },        { "cert", 1, NULL, 'c' },
		{ "key", 1, NULL, 'k' },       { "socket", 1, NULL, 's' },
		{ "token", 1, NULL, 't' },     { "proxy", 0, NULL, 'p' },
		{ "connect", 1, NULL, 'C' },   { "answer", 1, NULL, 'A' },
		{ "idle", 1, NULL, 'I' },      { "timeout", 1, NULL, 'T' },
		{ "max", 1, NULL, 'M' },       { "body", 1, NULL, 'b' },
		{ "cancel-ms", 1, NULL, 'x' }, { NULL, 0, NULL, 0 },
	};
	struct http_client_options options = { .user_agent = "http-get", .cancel_fd = -1 };
	struct http_request_options request = { .accept = "application/json",
						.status = take_status,
						.connect_timeout_ms = 5000 };
	struct http_client *client = NULL;
	struct diag diag = { "" };
	const char *body = NULL;
	pthread_t thread;
	int option;

	while ((option = getopt_long(argc, argv, "", names, NULL)) >= 0) {
		switch (option) {
		case 'a':
			options.ca_file = optarg;
			break;
		case 'c':
			options.client_cert_file = optarg;
			break;
		case 'k':
			options.client_key_file = optarg;
			break;
		case 's':
			options.unix_socket = optarg;
			break;
		case 'p':
			options.environment_proxy = true;
			break;
		case 't':
			request.bearer_token = optarg;
			break;
		case 'C':
			request.connect_timeout_ms = number(optarg);
			break;
		case 'A':
			request.answer_timeout_ms = number(optarg);
			break;
		case 'I':
			request.idle_timeout_ms = number(optarg);
			break;
		case 'T':
			request.timeout_ms = number(optarg);
			break;
		case 'M':
			request.max_bytes = number(optarg);
			break;
		case 'x':
			cancel.after_ms = number(optarg);
			break;
		case 'b':
			body = optarg;
			break;
		default:
			return 2;
		}
	}
	if (cancel.after_ms)
		options.cancel_fd = cancel.fd = eventfd(0, EFD_CLOEXEC);
	if (http_client_new(&options, &client, &diag) < 0) {
		(void)printf("new: %s\n", diag.text);
		return 1;
	}
	if (cancel.after_ms && pthread_create(&thread, NULL, cancel_later, NULL))
		return 2;
	for (; optind < argc; optind++)
		get(client, &request, argv[optind], body);
	http_client_free(client);
	if (cancel.after_ms) {
		(void)pthread_join(thread, NULL);
		(void)close(cancel.fd);
	}
	return 0;
}
