// SPDX-License-Identifier: Apache-2.0
#include "export/otlp/otlp_environment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/macro.h"
#include "base/num.h"
#include "net/http_url.h"

#define GENERAL     "OTEL_EXPORTER_OTLP_"
#define OF_METRICS  "OTEL_EXPORTER_OTLP_METRICS_"
#define METRICS_END "/v1/metrics"
#define TEXT_MAX    8192 /* of a name or value, with its end */
#define MS_MAX      86400000

typedef const char *get_variable(const char *name);

/* ---- lists ---- */

void otlp_pairs_release(struct otlp_pairs *pairs)
{
	for (size_t i = 0; i < pairs->count; i++) {
		free(pairs->list[i].name);
		free(pairs->list[i].value);
	}
	pairs->count = 0;
}

/* @text [len) without blanks around it, decoded. */
static int decode(const char *text, size_t len, char **ret)
{
	CLEANUP_FREE char *raw = NULL;
	CLEANUP_FREE char *decoded = NULL;
	int r;

	while (len && (*text == ' ' || *text == '\t')) {
		text++;
		len--;
	}
	while (len && (text[len - 1] == ' ' || text[len - 1] == '\t'))
		len--;
	if (len >= TEXT_MAX)
		return -EINVAL;
	raw = strndup(text, len);
	decoded = malloc(len + 1);
	if (!raw || !decoded)
		return -ENOMEM;
	r = http_url_unescape(raw, decoded, len + 1);
	if (r == 0)
		*ret = TAKE_PTR(decoded);
	return r;
}

static int add_pair(const char *text, size_t len, struct otlp_pairs *ret, struct diag *diag)
{
	const char *equals = memchr(text, '=', len);
	struct otlp_pair *pair = &ret->list[ret->count];
	int r;

	if (!equals)
		return diag_set(diag, -EINVAL, "item %zu is not NAME=VALUE", ret->count + 1);
	if (ret->count == OTLP_PAIRS_MAX)
		return diag_set(diag, -EINVAL, "has more than %d items", OTLP_PAIRS_MAX);
	*pair = (struct otlp_pair){ 0 };
	r = decode(text, (size_t)(equals - text), &pair->name);
	if (r == 0)
		r = decode(equals + 1, len - (size_t)(equals + 1 - text), &pair->value);
	if (r == 0 && !pair->name[0])
		r = -EINVAL;
	ret->count++; /* it is released with the others */
	if (r == -EINVAL)
		return diag_set(diag, r,
				"item %zu has no name, a %% without two hexadecimal digits, a "
				"control character, or is too long",
				ret->count);
	return r < 0 ? diag_set(diag, -ENOMEM, "out of memory") : 0;
}

static bool is_blank(const char *text, size_t len)
{
	return strspn(text, " \t") >= len;
}

int otlp_pairs_parse(const char *text, struct otlp_pairs *ret, struct diag *diag)
{
	int r = 0;

	ret->count = 0;
	while (r == 0 && *text) {
		size_t len = strcspn(text, ",");

		if (!is_blank(text, len))
			r = add_pair(text, len, ret, diag);
		text += len;
		text += *text == ',';
	}
	return r;
}

/* ---- values ---- */

static const char *value_of(get_variable *get, const char *name)
{
	const char *value = get(name);

	return value && value[0] ? value : NULL;
}

/* OTEL_EXPORTER_OTLP_METRICS_@end, else OTEL_EXPORTER_OTLP_@end; *ret_name: the one that is set. */
static const char *exporter_value(get_variable *get, const char *end, char ret_name[64])
{
	const char *value;

	(void)snprintf(ret_name, 64, OF_METRICS "%s", end);
	value = value_of(get, ret_name);
	if (value)
		return value;
	(void)snprintf(ret_name, 64, GENERAL "%s", end);
	return value_of(get, ret_name);
}

static int take_text(get_variable *get, const char *end, char **ret)
{
	char name[64];
	const char *value = exporter_value(get, end, name);

	*ret = value ? strdup(value) : NULL;
	return value && !*ret ? -ENOMEM : 0;
}

int otlp_url_of_base(const char *base, char **ret)
{
	size_t len = strlen(base), end_len = strlen(METRICS_END);
	bool is_whole = len >= end_len && strcmp(base + len - end_len, METRICS_END) == 0;

	while (!is_whole && len && base[len - 1] == '/')
		len--;
	if (asprintf(ret, "%.*s%s", (int)len, base, is_whole ? "" : METRICS_END) < 0) {
		*ret = NULL;
		return -ENOMEM;
	}
	return 0;
}

/* That of metrics alone is whole; to the other one the path is added. */
static int take_url(get_variable *get, struct otlp_environment *ret)
{
	const char *own = value_of(get, OF_METRICS "ENDPOINT");
	const char *base = value_of(get, GENERAL "ENDPOINT");

	if (own) {
		ret->url = strdup(own);
		return ret->url ? 0 : -ENOMEM;
	}
	return base ? otlp_url_of_base(base, &ret->url) : 0;
}

static int take_ms(const char *name, const char *text, uint64_t *ret_ns, struct diag *diag)
{
	uint64_t ms;

	if (!text)
		return 0;
	if (parse_u64(text, strlen(text), &ms) < 0 || ms == 0 || ms > MS_MAX)
		return diag_set(diag, -EINVAL,
				"%s: must be a number of milliseconds from 1 to %d, not \"%.40s\"",
				name, MS_MAX, text);
	*ret_ns = ms * NSEC_PER_MSEC;
	return 0;
}

static int take_times(get_variable *get, struct otlp_environment *ret, struct diag *diag)
{
	char name[64];
	const char *timeout = exporter_value(get, "TIMEOUT", name);
	int r = take_ms(name, timeout, &ret->timeout_ns, diag);

	if (r < 0)
		return r;
	return take_ms("OTEL_METRIC_EXPORT_INTERVAL", value_of(get, "OTEL_METRIC_EXPORT_INTERVAL"),
		       &ret->interval_ns, diag);
}

static int take_choices(get_variable *get, struct otlp_environment *ret, struct diag *diag)
{
	static const char preference[] = OF_METRICS "TEMPORALITY_PREFERENCE";
	char name[64];
	const char *value = exporter_value(get, "PROTOCOL", name);

	if (value && strcmp(value, "http/protobuf") != 0)
		return diag_set(diag, -EINVAL,
				"%s: Kepler sends http/protobuf, which every receiver of OTLP "
				"has, and not \"%.20s\"; set it to http/protobuf, and the endpoint "
				"to its port (mostly 4318)",
				name, value);
	value = exporter_value(get, "COMPRESSION", name);
	if (value && strcmp(value, "gzip") != 0 && strcmp(value, "none") != 0)
		return diag_set(diag, -EINVAL, "%s: must be gzip or none, not \"%.20s\"", name,
				value);
	ret->has_compression = value;
	ret->is_gzip = value && strcmp(value, "gzip") == 0;
	value = value_of(get, preference);
	if (value && strcasecmp(value, "cumulative") != 0 && strcasecmp(value, "delta") != 0 &&
	    strcasecmp(value, "lowmemory") != 0)
		return diag_set(diag, -EINVAL,
				"%s: must be cumulative, delta or lowmemory, not \"%.20s\"",
				preference, value);
	/* lowmemory: deltas only of what costs no memory; ours would. */
	ret->is_delta = value && strcasecmp(value, "delta") == 0;
	return 0;
}

static int take_pairs(const char *name, const char *text, struct otlp_pairs *ret, struct diag *diag)
{
	struct diag why = { 0 };
	int r = text ? otlp_pairs_parse(text, ret, &why) : 0;

	return r < 0 ? diag_set(diag, r, "%s: %s", name, why.text) : 0;
}

static int take_lists(get_variable *get, struct otlp_environment *ret, struct diag *diag)
{
	char name[64];
	const char *headers = exporter_value(get, "HEADERS", name);
	int r = take_pairs(name, headers, &ret->headers, diag);

	return r < 0 ? r
		     : take_pairs("OTEL_RESOURCE_ATTRIBUTES",
				  value_of(get, "OTEL_RESOURCE_ATTRIBUTES"), &ret->resource, diag);
}

static int take_texts(get_variable *get, struct otlp_environment *ret)
{
	const char *service = value_of(get, "OTEL_SERVICE_NAME");

	ret->service_name = service ? strdup(service) : NULL;
	if ((service && !ret->service_name) || take_text(get, "CERTIFICATE", &ret->ca_file) < 0 ||
	    take_text(get, "CLIENT_KEY", &ret->client_key_file) < 0 ||
	    take_text(get, "CLIENT_CERTIFICATE", &ret->client_cert_file) < 0)
		return -ENOMEM;
	return 0;
}

/* One exporter of the list has to be this one. */
static bool is_disabled(get_variable *get)
{
	const char *disabled = value_of(get, "OTEL_SDK_DISABLED");
	const char *exporters = value_of(get, "OTEL_METRICS_EXPORTER");

	return (disabled && strcasecmp(disabled, "true") == 0) ||
	       (exporters && !strstr(exporters, "otlp"));
}

int otlp_environment_read(get_variable *get, bool is_wanted, struct otlp_environment *ret,
			  struct diag *diag)
{
	int r;

	*ret = (struct otlp_environment){ .is_disabled = is_disabled(get) };
	r = take_url(get, ret);
	if (r < 0)
		return diag_set(diag, r, "out of memory");
	if (!is_wanted && (!ret->url || ret->is_disabled))
		return 0;
	r = take_choices(get, ret, diag);
	if (r == 0)
		r = take_times(get, ret, diag);
	if (r == 0)
		r = take_lists(get, ret, diag);
	if (r == 0 && take_texts(get, ret) < 0)
		r = diag_set(diag, -ENOMEM, "out of memory");
	return r;
}

void otlp_environment_release(struct otlp_environment *environment)
{
	otlp_pairs_release(&environment->headers);
	otlp_pairs_release(&environment->resource);
	free(environment->url);
	free(environment->ca_file);
	free(environment->client_key_file);
	free(environment->client_cert_file);
	free(environment->service_name);
	*environment = (struct otlp_environment){ 0 };
}
