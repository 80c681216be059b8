// SPDX-License-Identifier: Apache-2.0
#include "export/otlp/otlp_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/protobuf_writer.h"
#include "export/otlp/otlp_attributes.h"

#define INTERVAL_NS      (60 * NSEC_PER_SEC) /* as OTEL_METRIC_EXPORT_INTERVAL by default */
#define TIMEOUT_NS       (10 * NSEC_PER_SEC) /* the option's default */
#define RESOURCE_FIELD   PROTOBUF_TAG(1, PROTOBUF_BYTES)
#define SERVICE_NAME     "service.name"
#define SERVICE_INSTANCE "service.instance.id"

static bool starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* ---- options and variables ---- */

bool otlp_is_wanted(const struct otlp_options *options, const char *(*get)(const char *name))
{
	struct otlp_environment environment;
	bool is_wanted;

	if (options->endpoint[0])
		return true;
	/* Errors in the rest are reported at the start. */
	(void)otlp_environment_read(get, false, &environment, NULL);
	is_wanted = environment.url && !environment.is_disabled;
	otlp_environment_release(&environment);
	return is_wanted;
}

static int level_of(const char *text)
{
	for (enum level level = 0; level < LEVEL_COUNT; level++) {
		if (strcmp(text, level_info[level].name) == 0)
			return (int)level;
	}
	return -EINVAL;
}

int otlp_check_level(const char *text, struct diag *diag)
{
	return level_of(text) >= 0
		       ? 0
		       : diag_set(diag, -EINVAL,
				  "must be process, container, pod, vm or namespace, not \"%.40s\"",
				  text);
}

/* The variable's headers, in the form of the option. */
static int take_headers(struct otlp_settings *settings, struct diag *diag)
{
	const struct otlp_pairs *pairs = &settings->environment.headers;

	if (settings->target.header_count)
		return 0;
	if (pairs->count > PUSH_HEADERS_MAX)
		return diag_set(diag, -EINVAL, "OTEL_EXPORTER_OTLP_HEADERS: more than %d headers",
				PUSH_HEADERS_MAX);
	for (size_t i = 0; i < pairs->count; i++) {
		char **text = &settings->headers[i];
		struct diag why = { 0 };

		if (asprintf(text, "%s=%s", pairs->list[i].name, pairs->list[i].value) < 0) {
			*text = NULL;
			return diag_set(diag, -ENOMEM, "out of memory");
		}
		settings->header_count++;
		settings->target.headers[i] = *text;
		if (push_target_check_header(*text, &why) < 0)
			return diag_set(diag, -EINVAL, "OTEL_EXPORTER_OTLP_HEADERS: item %zu %s",
					i + 1, why.text);
	}
	settings->target.header_count = pairs->count;
	return 0;
}

static void take_file(char **option, char *variable)
{
	if (!(*option)[0] && variable)
		*option = variable;
}

static int take_url(const struct otlp_options *options, struct otlp_settings *settings,
		    struct diag *diag)
{
	const char *name = "otlp.endpoint";
	struct diag why = { 0 };
	int r = 0;

	if (options->endpoint[0]) {
		r = otlp_url_of_base(options->endpoint, &settings->url);
	} else {
		name = "OTEL_EXPORTER_OTLP_ENDPOINT";
		settings->url =
			settings->environment.url ? strdup(settings->environment.url) : NULL;
		r = settings->url ? 0 : -ENOMEM;
	}
	if (r < 0)
		return diag_set(diag, -ENOMEM, "out of memory");
	r = push_target_check_url(settings->url, &why);
	return r < 0 ? diag_set(diag, r, "%s: %s", name, why.text) : 0;
}

static void take_choices(const struct otlp_options *options, struct otlp_settings *settings)
{
	const struct otlp_environment *environment = &settings->environment;

	settings->interval_ns = options->interval_ns != OTLP_INTERVAL_AUTO ? options->interval_ns
				: environment->interval_ns ? environment->interval_ns
							   : INTERVAL_NS;
	settings->is_delta =
		options->temporality == OTLP_DELTA ||
		(options->temporality == OTLP_TEMPORALITY_AUTO && environment->is_delta);
	settings->is_gzip = options->compression == OTLP_GZIP;
	if (options->compression == OTLP_COMPRESSION_AUTO)
		settings->is_gzip = !environment->has_compression || environment->is_gzip;
	if (settings->target.timeout_ns == TIMEOUT_NS && environment->timeout_ns)
		settings->target.timeout_ns = environment->timeout_ns;
}

int otlp_settings_read(const struct otlp_options *options, const char *(*get)(const char *name),
		       struct otlp_settings *ret, struct diag *diag)
{
	int r;

	*ret = (struct otlp_settings){ .target = options->target };
	r = otlp_environment_read(get, true, &ret->environment, diag);
	if (r == 0)
		r = take_url(options, ret, diag);
	if (r == 0)
		r = take_headers(ret, diag);
	if (r < 0)
		return r;
	take_choices(options, ret);
	take_file(&ret->target.ca_file, ret->environment.ca_file);
	take_file(&ret->target.client_cert_file, ret->environment.client_cert_file);
	take_file(&ret->target.client_key_file, ret->environment.client_key_file);
	for (size_t i = 0; i < options->level_count; i++)
		ret->levels |= LEVEL_BIT(level_of(options->levels[i]));
	if (!ret->levels)
		ret->levels = LEVEL_BIT(LEVEL_CONTAINER);
	return 0;
}

void otlp_settings_release(struct otlp_settings *settings)
{
	for (size_t i = 0; i < settings->header_count; i++)
		free(settings->headers[i]);
	free(settings->url);
	otlp_environment_release(&settings->environment);
	*settings = (struct otlp_settings){ 0 };
}

/* ---- the resource ---- */

/* An attribute of an owner of energy: in the environment it describes the pod of Kepler itself. */
static bool is_of_owner(const char *name)
{
	static const char *const prefixes[] = { "process.", "container.", "kepler." };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		if (starts_with(name, prefixes[i]))
			return true;
	}
	return starts_with(name, "k8s.") && !starts_with(name, "k8s.cluster.") &&
	       !starts_with(name, "k8s.node.");
}

static const char *given(const struct otlp_environment *environment, const char *name)
{
	const struct otlp_pairs *pairs = &environment->resource;

	for (size_t i = 0; i < pairs->count; i++) {
		if (strcmp(pairs->list[i].name, name) == 0)
			return pairs->list[i].value;
	}
	return NULL;
}

static void add(struct strbuf *out, const char *name, const char *value)
{
	if (value && value[0])
		otlp_attribute_add(out, RESOURCE_FIELD, &(struct label_pair){ name, value, false });
}

static void add_given(const struct otlp_environment *environment, struct strbuf *out)
{
	const struct otlp_pairs *pairs = &environment->resource;

	for (size_t i = 0; i < pairs->count; i++) {
		const char *name = pairs->list[i].name;

		/* The first of two with the same name counts, as in given(). */
		if (strcmp(name, SERVICE_INSTANCE) == 0 || is_of_owner(name) ||
		    given(environment, name) != pairs->list[i].value ||
		    (environment->service_name && strcmp(name, SERVICE_NAME) == 0))
			continue;
		add(out, name, pairs->list[i].value);
	}
}

int otlp_resource_make(const struct otlp_environment *environment, const char *host_name,
		       const char *host_id, struct strbuf *ret, char *ret_instance, size_t size)
{
	const char *instance = given(environment, SERVICE_INSTANCE);
	const struct {
		const char *name, *value;
	} own[] = {
		{ SERVICE_NAME, environment->service_name ? environment->service_name : "kepler" },
		{ "host.name", host_name },
		{ "host.id", host_id },
		{ "os.type", "linux" },
	};

	(void)snprintf(ret_instance, size, "%s", instance ? instance : host_name);
	strbuf_reset(ret);
	add_given(environment, ret);
	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		bool is_given = given(environment, own[i].name);

		if (!is_given || (i == 0 && environment->service_name))
			add(ret, own[i].name, own[i].value);
	}
	return strbuf_error(ret);
}
