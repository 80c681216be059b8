/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The variables of the environment that all exporters of OpenTelemetry have (opentelemetry
 * specification, "OpenTelemetry Protocol Exporter" and "Environment Variable Specification").
 * OTEL_EXPORTER_OTLP_METRICS_… takes precedence over OTEL_EXPORTER_OTLP_…; an empty variable
 * counts as none.
 * Pure: the environment is passed in.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"

#define OTLP_PAIRS_MAX 32

/* NAME=VALUE of a list, both decoded. */
struct otlp_pair {
	char *name, *value;
};

struct otlp_pairs {
	struct otlp_pair list[OTLP_PAIRS_MAX];
	size_t count;
};

/* NULL, 0 and false: not set. Texts are owned. */
struct otlp_environment {
	bool is_disabled; /* OTEL_SDK_DISABLED=true, or OTEL_METRICS_EXPORTER without otlp */
	char *url;        /* whole */
	struct otlp_pairs headers, resource;
	char *ca_file, *client_key_file, *client_cert_file;
	char *service_name;
	bool has_compression, is_gzip;
	bool is_delta;
	uint64_t timeout_ns, interval_ns;
};

/*
 * 0; -ENOMEM; or -EINVAL with a diagnosis that names the variable. Nothing but is_disabled and url
 * is read unless @is_wanted or there is a URL.
 */
int otlp_environment_read(const char *(*get)(const char *name), bool is_wanted,
			  struct otlp_environment *ret, struct diag *diag);
void otlp_environment_release(struct otlp_environment *environment);

/*
 * Reads "a=b,c=d", with %XX in names and values, as W3C Baggage has it without properties. 0;
 * -ENOMEM; -EINVAL with a diagnosis that shows no value; *ret is to be released in any case.
 */
int otlp_pairs_parse(const char *text, struct otlp_pairs *ret, struct diag *diag);
void otlp_pairs_release(struct otlp_pairs *pairs);
/* The URL for metrics of a receiver's base URL: "/v1/metrics" follows, unless it ends so. */
int otlp_url_of_base(const char *base, char **ret);
