// SPDX-License-Identifier: Apache-2.0
/*
 * Only the exporter knows what became of its data, so it is asked over its local socket. A receiver
 * that it does not have, or any if no exporter runs, is sent a request without data.
 */
#include "doctor/peers/doctor_receivers.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/macro.h"
#include "base/strbuf.h"
#include "base/text/json_scan.h"
#include "export/remote-write/write_probe.h"
#include "export/send/receivers_page.h"
#include "net/http_url.h"
#include "net/local_client.h"

#define TOPIC          "receivers"
#define RECENT_S       120 /* a failure that is older, with successes since, is the past */
#define LONGEST_SHOWN  120 /* characters of a URL */
#define ERROR_SHOWN    200
#define AGE_NOT_KNOWN  (-1.0)
#define CREDENTIALS_OF "its user and password file, token file or headers"

static const struct {
	const char *key, *words;
} losses[] = {
	{ "refused", "refused" },
	{ "rejected", "rejected" },
	{ "full", "dropped because the queue was full" },
	{ "disk", "dropped because the disk of the queue did not respond" },
	{ "old", "dropped because they were too old" },
	{ "damaged", "lost with a damaged file" },
	{ "replaced", "replaced by newer ones" },
	{ "too_large", "in requests that were too large" },
};

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static json_int_t count_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static double age_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : AGE_NOT_KNOWN;
}

static void add_losses(const json_t *receiver, struct strbuf *out)
{
	const json_t *dropped = json_object_get(receiver, "dropped");
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(losses); i++) {
		json_int_t count = count_of(dropped, losses[i].key);

		if (count > 0)
			strbuf_addf(out, ", %lld %s", (long long)count, losses[i].words);
		any |= count > 0;
	}
	if (!any)
		strbuf_add_str(out, ", none was lost");
}

/* "..., 3145 bytes wait, the oldest for 42 s" */
static void add_waiting(const json_t *receiver, struct strbuf *out)
{
	json_int_t bytes = count_of(receiver, "queue_bytes");
	double age_s = age_of(receiver, "oldest_age_seconds");

	if (bytes <= 0)
		return;
	strbuf_addf(out, ", %lld bytes wait", (long long)bytes);
	if (age_s >= 0)
		strbuf_addf(out, ", the oldest for %.0f s", age_s);
}

static const char *remedy(const json_t *receiver)
{
	switch (count_of(receiver, "last_status")) {
	case 0:
		return "check its URL, and that the receiver runs";
	case 401:
	case 403:
		return "check " CREDENTIALS_OF;
	case 404:
	case 405:
		return "check the path of its URL; Prometheus needs "
		       "--web.enable-remote-write-receiver";
	case 429:
		return "the receiver limits requests: send less often, or raise its limit";
	case 413:
		return "send fewer series: --remote-write.keep, --remote-write.drop, --otlp.levels";
	default:
		return "the log of the receiver has more; docs/remote-write.md, docs/otlp.md";
	}
}

/* Does nothing get through at present? */
static bool is_failing(const json_t *receiver)
{
	double error_s = age_of(receiver, "last_error_age_seconds");
	double success_s = age_of(receiver, "last_success_age_seconds");

	return error_s >= 0 && (success_s < 0 || error_s < success_s);
}

static void add_receiver(struct findings *findings, const json_t *receiver)
{
	CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT;
	const char *error = text_of(receiver, "last_error");
	double success_s = age_of(receiver, "last_success_age_seconds");
	double error_s = age_of(receiver, "last_error_age_seconds");
	bool fails = is_failing(receiver), is_recent = error_s >= 0 && error_s < RECENT_S;

	strbuf_addf(&text, "%.*s: ", LONGEST_SHOWN, text_of(receiver, "receiver"));
	strbuf_addf(&text, "%lld samples were accepted by %.24s",
		    (long long)count_of(receiver, "accepted_samples"),
		    text_of(receiver, "protocol"));
	if (success_s >= 0)
		strbuf_addf(&text, ", the last %.0f s ago", success_s);
	add_losses(receiver, &text);
	if (count_of(receiver, "retries") > 0)
		strbuf_addf(&text, ", %lld requests were sent again",
			    (long long)count_of(receiver, "retries"));
	if (count_of(receiver, "clock_steps") > 0)
		strbuf_addf(&text, ", the clock was set back %lld times",
			    (long long)count_of(receiver, "clock_steps"));
	add_waiting(receiver, &text);
	if (error_s >= 0)
		strbuf_addf(&text, "; the last failure, %.0f s ago: %.*s", error_s, ERROR_SHOWN,
			    error);
	if (!text.data)
		return;
	if (fails)
		findings_add(findings, FINDING_FIX, TOPIC, remedy(receiver), "%s", text.data);
	else
		findings_add(findings, is_recent ? FINDING_NOTE : FINDING_OK, TOPIC,
			     is_recent ? remedy(receiver) : NULL, "%s", text.data);
}

static json_t *parse(const char *page, size_t len)
{
	json_error_t error;

	return json_is_too_deep(page, len) ? NULL : json_loadb(page, len, 0, &error);
}

static void json_put(json_t **value)
{
	json_decref(*value);
}

int doctor_receivers_read(struct findings *findings, const char *page, size_t len)
{
	CLEANUP(json_put) json_t *root = parse(page, len);
	const json_t *list = json_object_get(root, "receivers");

	if (!json_is_array(list))
		return -EINVAL;
	for (size_t i = 0; i < json_array_size(list); i++)
		add_receiver(findings, json_array_get(list, i));
	return 0;
}

/* Has the exporter a receiver with this URL? */
static bool is_on_page(const struct strbuf *page, const char *url)
{
	CLEANUP(json_put) json_t *root = page->len ? parse(page->data, page->len) : NULL;
	const json_t *list = json_object_get(root, "receivers");
	size_t len = strcspn(url, "?#");

	for (size_t i = 0; i < json_array_size(list); i++) {
		const char *known = text_of(json_array_get(list, i), "receiver");

		if (strlen(known) == len && strncmp(known, url, len) == 0)
			return true;
	}
	return false;
}

static void probe(struct findings *findings, const struct config *config, const char *url,
		  bool exporter_runs)
{
	struct diag diag = { "" };
	int r = write_probe(&config->push.remote_write, url, &diag);

	if (r < 0)
		findings_add(findings, FINDING_FIX, TOPIC,
			     "check --remote-write.url and " CREDENTIALS_OF
			     "; docs/remote-write.md",
			     "no metrics can be pushed by remote write: %s", diag.text);
	else if (exporter_runs)
		findings_add(findings, FINDING_NOTE, TOPIC,
			     "restart it with these options, if it is to push there",
			     "%.*s accepts remote write, but the exporter that runs does not push "
			     "there",
			     http_url_site_len(url), url);
	else
		findings_add(findings, FINDING_OK, TOPIC, NULL, "%.*s accepts remote write",
			     http_url_site_len(url), url);
}

/* Adds the findings about the exporter's receivers. False: no exporter runs. */
static bool ask_exporter(struct findings *findings, const struct config *config, struct strbuf *ret)
{
	struct local_client *client;
	struct diag diag = { "" };
	int r = local_client_open(config->local.socket, "kepler-doctor", &client, &diag);

	if (r < 0)
		return false;
	r = local_client_get(client, RECEIVERS_PAGE_PATH, RECEIVERS_PAGE_MAX, ret, NULL, &diag);
	local_client_close(client);
	if (r == 0 && doctor_receivers_read(findings, ret->data, ret->len) < 0)
		r = diag_set(&diag, -EINVAL, "%s: the answer is not a list of receivers",
			     config->local.socket);
	if (r < 0) {
		strbuf_reset(ret);
		findings_add(findings, FINDING_NOTE, TOPIC, NULL,
			     "what the running exporter has pushed is not known: %s", diag.text);
	}
	return true;
}

void doctor_examine_receivers(struct findings *findings, const struct config *config)
{
	const struct remote_write_options *options = &config->push.remote_write;
	CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT;
	bool exporter_runs = ask_exporter(findings, config, &page);

	for (size_t i = 0; i < options->url_count; i++) {
		if (!is_on_page(&page, options->urls[i]))
			probe(findings, config, options->urls[i], exporter_runs);
	}
}
