/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An exporter behind a Prometheus: each scrape that the Prometheus has stored is a page again, with
 * the time, the rows and the types of the scrape. It asks for the samples of a short range, so no
 * scrape is missed, whatever the scrape interval is, and none is seen twice.
 *
 * A selector must match one target (job and instance): numbers of two nodes are no exporter.
 * Secrets are read from files once, and are sent over https:// or to this machine only.
 */
#pragma once

#include <stdint.h>

#include "base/diag.h"

struct prometheus_options {
	const char *url;                  /* "http://localhost:9090" */
	const char *selector;             /* 'job="kepler",instance="node1"'; "": none */
	const char *token_file;           /* of a bearer token; "": none */
	const char *user, *password_file; /* HTTP Basic; "": none */
	const char *ca_file;              /* "": the system's */
	uint64_t timeout_ms;
};

/* Gets a scrape as a page, terminated at @len, which it may change. A result below 0 ends it. */
typedef int prometheus_page_fn(void *userdata, double time_s, char *text, size_t len);

struct prometheus_source;

/*
 * Finds the target and the metrics' types. 0; -EINVAL: the selector matches no target, or several,
 * which the diagnosis names; or -errno with a diagnosis. Everything in @options is copied.
 */
int prometheus_source_open(const struct prometheus_options *options, struct prometheus_source **ret,
			   struct diag *diag);
/*
 * Hands out each scrape after the last one, oldest first; the first call finds none, because only
 * those after it count. How many; or -errno with a diagnosis, or what @page has returned.
 */
int prometheus_source_read(struct prometheus_source *source, double now_s, prometheus_page_fn *page,
			   void *userdata, struct diag *diag);
void prometheus_source_free(struct prometheus_source *source);
