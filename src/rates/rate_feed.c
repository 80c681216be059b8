// SPDX-License-Identifier: Apache-2.0
#include "rates/rate_feed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/secret_file.h"
#include "base/strbuf.h"
#include "net/http_client.h"
#include "net/http_url.h"

#define FILE_MAX     (4 << 20)
#define CONNECT_MS   5000
#define TIMEOUT_MS   10000
#define TOKEN_LIFE_S (25 * 60) /* a login holds for 30 minutes */

int rate_feed_open(const struct rate_feed_options *options, int cancel_fd, struct rate_feed *ret,
		   struct diag *diag)
{
	const struct http_client_options client = {
		.ca_file = *options->ca_file ? options->ca_file : NULL,
		.user_agent = "kepler",
		.environment_proxy = true,
		.cancel_fd = cancel_fd,
	};

	*ret = (struct rate_feed){ .options = options };
	if (!*options->url)
		return 0;
	ret->provider = rate_provider_of(options->url);
	return http_client_new(&client, &ret->client, diag);
}

static void forget_token(struct rate_feed *feed)
{
	if (feed->token)
		explicit_bzero(feed->token, strlen(feed->token));
	free(feed->token);
	feed->token = NULL;
}

void rate_feed_close(struct rate_feed *feed)
{
	forget_token(feed);
	http_client_free(feed->client);
}

static int add_bytes(void *userdata, const char *bytes, size_t len)
{
	struct strbuf *answer = userdata;

	strbuf_add(answer, bytes, len);
	return strbuf_error(answer);
}

/* A GET of @request, whose answer goes to @answer. */
static int ask(struct rate_feed *feed, struct http_request_options *request, struct strbuf *answer,
	       struct diag *diag)
{
	struct http_reply reply;
	int r;

	request->accept = "application/json";
	request->connect_timeout_ms = CONNECT_MS;
	request->timeout_ms = TIMEOUT_MS;
	request->max_bytes = RATE_ANSWER_MAX;
	r = http_client_get(feed->client, request, add_bytes, answer, &reply, diag);
	if (r < 0)
		return r;
	if (reply.status != 200)
		return diag_set(diag, reply.status == 401 || reply.status == 403 ? -EACCES : -EIO,
				"%.*s answered HTTP %d", http_url_site_len(request->url),
				request->url, reply.status);
	return 0;
}

static void clear_secret(char **secret)
{
	if (*secret)
		explicit_bzero(*secret, strlen(*secret));
	free(*secret);
}

/* A token for the provider's requests, got with @key, which is USER:PASSWORD. */
static int log_in(struct rate_feed *feed, char *key, int64_t now_s, struct diag *diag)
{
	CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT;
	char *colon = strchr(key, ':');
	struct http_request_options request = { .url = feed->provider->login_url };
	int r;

	if (feed->token && now_s - feed->token_s < TOKEN_LIFE_S && now_s >= feed->token_s)
		return 0;
	if (!colon)
		return diag_set(diag, -EINVAL, "%s: must have a line USER:PASSWORD",
				feed->options->key_file);
	*colon = '\0';
	request.user = key;
	request.password = colon + 1;
	forget_token(feed);
	r = ask(feed, &request, &answer, diag);
	if (r == 0)
		r = rate_answer_text(answer.data, answer.len, feed->provider->login_path,
				     &feed->token, diag);
	feed->token_s = now_s;
	return r;
}

static int read_url(struct rate_feed *feed, int64_t now_s, double *ret, struct diag *diag)
{
	const struct rate_provider *provider = feed->provider;
	const char *path = *feed->options->path ? feed->options->path : provider->path;
	CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT;
	CLEANUP(clear_secret) char *key = NULL;
	struct http_header header = { .name = provider->key_header };
	struct http_request_options request = { .url = feed->options->url };
	int r = 0;

	if (*feed->options->key_file)
		r = secret_file_read(feed->options->key_file, &key, diag);
	if (r == 0 && key && provider->login_url) {
		r = log_in(feed, key, now_s, diag);
		request.bearer_token = feed->token;
	} else if (key && provider->key_header) {
		header.value = key;
		request.headers = &header;
		request.header_count = 1;
	} else {
		request.bearer_token = key;
	}
	if (r == 0)
		r = ask(feed, &request, &answer, diag);
	if (r == -EACCES)
		forget_token(feed);
	if (r < 0)
		return r;
	r = rate_answer_json(answer.data, answer.len, path, ret, diag);
	*ret *= provider->factor;
	return r;
}

static int read_file(const struct rate_feed *feed, int64_t now_s, struct rate_reading *ret,
		     struct diag *diag)
{
	CLEANUP_FREE char *text = NULL;
	struct diag cause = { "" };
	struct stat st;
	size_t len;
	int r = read_file_alloc(feed->options->file, FILE_MAX, &text, &len);

	if (r < 0)
		return diag_set(diag, r, "%s: %s", feed->options->file, strerrordesc_np(-r));
	r = rate_answer_file(text, now_s, ret, &cause);
	/* A number alone holds from when it was written on: whatever writes it may have ended. */
	if (r == 0 && ret->since_s == INT64_MIN && stat(feed->options->file, &st) == 0)
		ret->since_s = st.st_mtim.tv_sec < now_s ? st.st_mtim.tv_sec : now_s;
	return r < 0 ? diag_set(diag, r, "%s: %s", feed->options->file, cause.text) : 0;
}

int rate_feed_read(struct rate_feed *feed, int64_t now_s, struct rate_reading *ret,
		   struct diag *diag)
{
	*ret = (struct rate_reading){ .since_s = INT64_MIN };
	return feed->provider ? read_url(feed, now_s, &ret->value, diag)
			      : read_file(feed, now_s, ret, diag);
}
