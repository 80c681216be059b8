// SPDX-License-Identifier: Apache-2.0
#include "export/otlp/otlp_probe.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/param.h>

#include "base/macro.h"
#include "export/otlp/otlp_answer.h"
#include "export/otlp/otlp_settings.h"
#include "net/http_retry.h"
#include "net/http_url.h"

static const char *variable(const char *name)
{
	return getenv(name);
}

static int judge(const struct otlp_settings *settings, const struct push_answer *answer,
		 struct diag *diag)
{
	struct otlp_answer said = { 0 };
	char text[OTLP_ANSWER_MESSAGE_MAX] = "";

	if (http_retry_outcome(answer->status, HTTP_RETRY_UNAVAILABLE) == HTTP_ACCEPTED)
		return 0;
	if (otlp_answer_read_failure(answer->body.data, answer->body.len, &said) == 0 &&
	    said.message[0])
		(void)snprintf(text, sizeof(text), "%s", said.message);
	else
		push_answer_text(answer, text, sizeof(text));
	return diag_set(diag, -EPROTO, "%.*s: HTTP %d%s%s", http_url_site_len(settings->url),
			settings->url, answer->status, text[0] ? ": " : "", text);
}

static int send_nothing(struct otlp_settings *settings, struct diag *diag)
{
	const struct push_message message = { .content = "",
					      .content_type = "application/x-protobuf" };
	CLEANUP(push_answer_release) struct push_answer answer = { 0 };
	struct push_target *receiver = NULL;
	int r;

	settings->target.timeout_ns = MIN(settings->target.timeout_ns, OTLP_PROBE_NS);
	r = push_target_open(&settings->target, settings->url, "kepler-doctor", -1, &receiver,
			     diag);
	if (r < 0)
		return r;
	r = push_target_send(receiver, &message, &answer, diag);
	push_target_close(receiver);
	return r < 0 ? r : judge(settings, &answer, diag);
}

int otlp_probe(const struct otlp_options *options, char *ret_site, size_t size, struct diag *diag)
{
	CLEANUP(otlp_settings_release) struct otlp_settings settings = { 0 };
	int r;

	*ret_site = '\0';
	if (!otlp_is_wanted(options, variable))
		return 0;
	(void)snprintf(ret_site, size, "otlp.endpoint");
	r = otlp_settings_read(options, variable, &settings, diag);
	if (r < 0)
		return r;
	(void)snprintf(ret_site, size, "%.*s", http_url_site_len(settings.url), settings.url);
	return send_nothing(&settings, diag);
}
