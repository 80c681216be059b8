/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP API of a Prometheus (and of what speaks it: Thanos, Mimir, VictoriaMetrics): names of
 * metrics, and points of one in a range of time. A response is held in memory while it is read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "samples/collection.h"
#include "samples/series_reader.h"

#define PROMETHEUS_ANSWER_MAX (256ULL << 20) /* bytes of one response; beyond it -E2BIG */

struct prometheus_options {
	const char *url;          /* "https://prometheus:9090", also with a path before /api */
	const char *ca_file;      /* "": the system's */
	const char *bearer_token; /* secrets go to https:// only; "": none */
	const char *user, *password;
	const char *matchers; /* "instance=\"a\"": each query has them; "": none */
	bool insecure;
	uint64_t timeout_ms; /* of one request */
};

struct prometheus;

/* 0, or -errno with a diagnosis. Texts are borrowed while it lives. */
int prometheus_new(const struct prometheus_options *options, struct prometheus **ret,
		   struct diag *diag);
void prometheus_free(struct prometheus *prometheus);

/* Names of metrics that have points in this time, in their order: @ret is owned. */
int prometheus_metrics(struct prometheus *prometheus, int64_t start_us, int64_t end_us,
		       bool (*wants)(void *userdata, const char *name), void *userdata,
		       char (**ret)[COLLECT_NAME_MAX], size_t *ret_count, struct diag *diag);
/* A collect_query_fn, over a struct prometheus. */
int prometheus_range(struct prometheus *prometheus, const struct collect_range *range,
		     const struct series_sink *sink, struct diag *diag);
