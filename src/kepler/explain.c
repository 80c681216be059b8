// SPDX-License-Identifier: Apache-2.0
/*
 * The exporter answers 202 until its loop has booked an interval with the question in it, so the
 * question is repeated until then. The answer is printed as it is, without bytes that a terminal
 * should not get, because the server at the address need not be Kepler.
 */
#include "kepler/explain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macro.h"
#include "base/num.h"
#include "base/strbuf.h"
#include "config/config.h"
#include "explain/explain_lines.h"
#include "explain/explain_page.h"
#include "net/http_client.h"
#include "net/http_unix.h"
#include "net/http_url.h"
#include "net/server/http_address.h"
#include "net/server/http_listen.h"
#include "net/server/web_options.h"
#include "options/program.h"

#define CONNECT_MS   2000
#define ANSWER_MS    5000
#define ANSWER_MAX   (1024 * 1024)
#define ASK_EVERY_MS 200  /* while the answer is near */
#define ASK_LATER_MS 1000 /* while it is not; less than what a question is forgotten after */
#define MARGIN_S     10   /* beyond that, for an exporter that is late */
#define SAY_FROM_S   3    /* a wait that is reported */
#define INTERVALS    6    /* at most until a question is answered: see explain_desk_take() */
#define TOO_MANY     "503: too many" /* not that the exporter hangs */

struct explain_config {
	struct config config;
	bool json;
};

static const struct option own_rows[] = {
	{ "json", NULL, OPTION_BOOL, .offset = offsetof(struct explain_config, json),
	  .default_text = "false", .only_flag = true, .help = "Print the answer as JSON." },
};
static const struct option_section own_sections[] = { { own_rows, ARRAY_SIZE(own_rows), 0 } };

const struct option_set explain_options = {
	.program = &config_program,
	.base = &config_options,
	.sections = own_sections,
	.section_count = ARRAY_SIZE(own_sections),
	.size = sizeof(struct explain_config),
	.check = config_check,
};

/* Where to ask, and what came of it. */
struct question {
	const char *target;
	const char *address; /* as configured */
	const char *token;   /* NULL: none is needed */
	bool tls;
	char url[EXPLAIN_TARGET_MAX * 3 + 128];
	bool json;
	struct http_client *client;
	struct strbuf body;
	struct http_reply reply;
	struct diag diag;
};

static int take_body(void *userdata, const char *bytes, size_t len)
{
	struct strbuf *body = userdata;

	strbuf_add(body, bytes, len);
	return strbuf_error(body);
}

static int ask_once(struct question *question)
{
	const struct http_request_options request = {
		.url = question->url,
		.bearer_token = question->token,
		.accept = question->json ? "application/json" : "text/plain",
		.connect_timeout_ms = CONNECT_MS,
		.timeout_ms = ANSWER_MS,
		.max_bytes = ANSWER_MAX,
	};

	strbuf_reset(&question->body);
	return http_client_get(question->client, &request, take_body, &question->body,
			       &question->reply, &question->diag);
}

static void pause_ms(uint64_t ms)
{
	const struct timespec wait = { .tv_sec = (time_t)(ms / 1000),
				       .tv_nsec = (long)(ms % 1000 * NSEC_PER_MSEC) };

	(void)nanosleep(&wait, NULL);
}

static bool is_busy(const struct question *question)
{
	return question->reply.status == 503 && question->body.data &&
	       strncmp(question->body.data, TOO_MANY, strlen(TOO_MANY)) == 0;
}

/*
 * Until there is an answer, or another than "later". 0; -errno as http_client_get(), -ETIMEDOUT
 * where none came in time: a full desk answers the last of it some intervals later.
 */
static int ask_until_answered(struct question *question)
{
	uint64_t began_ns = clock_ns(CLOCK_MONOTONIC), wait_s = 0;

	for (bool said = false;;) {
		int r = ask_once(question);
		uint64_t left_s = question->reply.retry_after_ms / 1000;

		if (r < 0 || (question->reply.status != 202 && !is_busy(question)))
			return r;
		if (!said && left_s >= SAY_FROM_S) {
			(void)fprintf(stderr,
				      "kepler: waiting for the end of the exporter's interval, in "
				      "%llu s\n",
				      (unsigned long long)left_s);
			said = true;
		}
		wait_s = left_s > wait_s ? left_s : wait_s;
		if (clock_ns(CLOCK_MONOTONIC) - began_ns >
		    (wait_s * INTERVALS + MARGIN_S) * NSEC_PER_SEC)
			return diag_set(&question->diag, -ETIMEDOUT, "%s: no answer in time",
					question->address);
		pause_ms(left_s > 2 ? ASK_LATER_MS : ASK_EVERY_MS);
	}
}

/* "http://127.0.0.1:28282/explain/4711"; an address that stands for all is asked by loopback. */
static int make_url(struct question *question)
{
	const char *socket = http_unix_path(question->address);
	const char *scheme = question->tls ? "https" : "http";
	char host[96] = "localhost", escaped[EXPLAIN_TARGET_MAX * 3];
	uint16_t port = 0;
	int r = http_url_escape(question->target, escaped, sizeof(escaped));

	if (r == 0 && !socket)
		r = http_parse_address(question->address, host, sizeof(host), &port,
				       &question->diag);
	if (r < 0)
		return r;
	if (!host[0] || strcmp(host, "0.0.0.0") == 0)
		(void)snprintf(host, sizeof(host), "127.0.0.1");
	else if (strcmp(host, "::") == 0)
		(void)snprintf(host, sizeof(host), "::1");
	if (socket)
		(void)snprintf(question->url, sizeof(question->url), "%s://localhost%s%s", scheme,
			       EXPLAIN_PATH, escaped);
	else
		(void)snprintf(question->url, sizeof(question->url),
			       strchr(host, ':') ? "%s://[%s]:%u%s%s" : "%s://%s:%u%s%s", scheme,
			       host, (unsigned)port, EXPLAIN_PATH, escaped);
	return 0;
}

/* The certificate is for the names by which other machines scrape, not for this one's loopback. */
static int ask_at(struct question *question, const char *address)
{
	struct http_client_options options = {
		.user_agent = "kepler-explain", .cancel_fd = -1, .insecure = true, .is_local = true
	};
	int r;

	question->address = address;
	question->diag.text[0] = '\0';
	options.unix_socket = http_unix_path(address);
	r = make_url(question);
	if (r == 0)
		r = http_client_new(&options, &question->client, &question->diag);
	if (r == 0)
		r = ask_until_answered(question);
	http_client_free(question->client);
	question->client = NULL;
	return r;
}

/* True if the 404 is about the name asked for; other programs and older versions send others. */
static bool is_answer(const struct question *question, const char *body)
{
	CLEANUP(strbuf_release) struct strbuf target = STRBUF_INIT;
	size_t len;

	if (question->reply.status != 404)
		return question->reply.status == 200;
	if (question->json)
		return strncmp(body, "{\"target\":", strlen("{\"target\":")) == 0;
	explain_add_clean(&target, question->target, false);
	len = target.len;
	return strbuf_error(&target) == 0 && strncmp(body, target.data, len) == 0 &&
	       (strncmp(body + len, ": not found", strlen(": not found")) == 0 ||
		strncmp(body + len, ": ambiguous", strlen(": ambiguous")) == 0);
}

/* Prints the body to stdout, or to stderr with the meaning of a status that is an error. */
static int tell(struct question *question)
{
	CLEANUP(strbuf_release) struct strbuf clean = STRBUF_INIT;
	int status = question->reply.status;
	bool answered;
	FILE *out;

	explain_add_clean(&clean, question->body.data ? question->body.data : "", true);
	if (strbuf_error(&clean) < 0) {
		(void)fputs("kepler: out of memory\n", stderr);
		return EXPLAIN_EXIT_UNREACHABLE;
	}
	answered = is_answer(question, clean.data ? clean.data : "");
	out = status == 200 || (answered && question->json) ? stdout : stderr;
	if (!answered)
		(void)fprintf(stderr, "kepler: %s: %d: ", question->address, status);
	if (!answered && status == 404)
		(void)fputs("the program there has no /explain; it may be an older Kepler\n",
			    stderr);
	else if ((clean.len && fwrite(clean.data, 1, clean.len, out) != clean.len) ||
		 fflush(out) != 0) {
		(void)fprintf(stderr, "kepler: standard output: %s\n", strerrordesc_np(errno));
		return EXPLAIN_EXIT_UNREACHABLE;
	}
	if (!answered)
		return EXPLAIN_EXIT_UNREACHABLE;
	return status == 200 ? EXPLAIN_EXIT_FOUND : EXPLAIN_EXIT_NOT_FOUND;
}

static int ask_all(const struct explain_config *explain, struct question *question)
{
	int status = EXPLAIN_EXIT_UNREACHABLE;

	for (size_t i = 0; i < explain->config.web.listen_count; i++) {
		const char *address = explain->config.web.listen[i];

		if (ask_at(question, address) == 0) {
			status = tell(question);
			break;
		}
		if (http_unix_path(address))
			(void)fprintf(stderr, "kepler: %s: %s\n", address, question->diag.text);
		else
			(void)fprintf(stderr, "kepler: %s\n", question->diag.text);
		if (i + 1 == explain->config.web.listen_count)
			(void)fputs("kepler: no exporter responds; check that it is running and "
				    "that this is its --web.listen-address (or --config.file)\n",
				    stderr);
	}
	return status;
}

/* Does the server need a password, a client's certificate or an account, which no option has? */
static bool needs_more(const struct config *config, const struct web_security *security)
{
	const struct web_config *web = security ? security->config : NULL;

	if (web && (web->client_auth == WEB_CLIENT_ANY || web->client_auth == WEB_CLIENT_VERIFY))
		return true;
	return !*config->web.token_file &&
	       (config->web_auth != WEB_AUTH_NONE || (web && web->user_count));
}

/* The kernel says there which user asks; see docs/security.md. */
static int ask_local_socket(const struct explain_config *explain, struct question *question)
{
	char address[HTTP_UNIX_PATH_MAX + sizeof(HTTP_UNIX_PREFIX)];

	(void)snprintf(address, sizeof(address), HTTP_UNIX_PREFIX "%s",
		       explain->config.local.socket);
	question->tls = false;
	question->token = NULL;
	if (*explain->config.local.socket && ask_at(question, address) == 0)
		return tell(question);
	(void)fprintf(stderr,
		      "kepler: %s; the exporter's web server needs a password, a certificate or an "
		      "account, so that only its local socket can be asked (--local.socket)\n",
		      *explain->config.local.socket ? question->diag.text : "no local.socket");
	return EXPLAIN_EXIT_UNREACHABLE;
}

static int explain(const struct explain_config *explain, const char *target)
{
	const struct web_values *web = &explain->config.web;
	struct question question = { .target = target,
				     .tls = *web->certificate,
				     .json = explain->json,
				     .body = STRBUF_INIT };
	struct web_security *security = NULL;
	struct http_auth *auth = NULL;
	int status = EXPLAIN_EXIT_UNREACHABLE;

	if (*web->token_file && http_auth_open(web->token_file, &auth, &question.diag) < 0) {
		(void)fprintf(stderr, "kepler: the exporter needs a token: %s\n",
			      question.diag.text);
		return status;
	}
	if (web_options_open_security(web, &security, &question.diag) < 0)
		(void)fprintf(stderr, "kepler: the web configuration cannot be read: %s\n",
			      question.diag.text);
	question.token = auth ? http_auth_token(auth) : NULL;
	question.tls = question.tls || (security && security->tls);
	status = needs_more(&explain->config, security) ? ask_local_socket(explain, &question)
							: ask_all(explain, &question);
	strbuf_release(&question.body);
	web_security_unref(security);
	http_auth_free(auth);
	return status;
}

/* The word that is not a flag comes first or last; @rest gets the others. NULL: there is none. */
static const char *take_target(struct option_args *rest)
{
	const char *target = NULL;

	if (rest->argc && rest->argv[0][0] != '-') {
		target = rest->argv[0];
		rest->argv++;
	} else if (rest->argc && rest->argv[rest->argc - 1][0] != '-') {
		target = rest->argv[rest->argc - 1];
	}
	rest->argc -= target != NULL;
	return target;
}

int explain_main(int argc, char *const *argv, char *const *environ_)
{
	struct option_args args = { .argc = argc, .argv = argv, .environ_ = environ_ };
	struct explain_config config = { .json = false };
	const char *target = take_target(&args);
	int status;

	if (!target || !target[0] || strlen(target) >= EXPLAIN_TARGET_MAX) {
		return PROGRAM_WRONG_WORDS;
	}
	if (options_load_or_print(&explain_options, &args, &config.config.options, stderr) < 0)
		return EXPLAIN_EXIT_USAGE;
	status = explain(&config, target);
	options_release(&explain_options, &config.config.options);
	return status;
}
