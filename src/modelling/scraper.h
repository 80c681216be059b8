/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that reads an exporter's page regularly, for use without a Prometheus: it writes the
 * series that models are trained on to a file that "extract" reads. Series of single processes are
 * left out. The file grows as FILE.part, and becomes FILE when the scraper ends.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "samples/metric_kind.h"

#define SCRAPER_PAGE_MAX       (64U * 1024 * 1024) /* bytes of a page */
#define SCRAPER_STEP_INTERVALS 2 /* a step is at least as long as so many of the exporter's */

struct scraper_options {
	const char *url;     /* of the page */
	const char *path;    /* the file */
	const char *ca_file; /* "": the system's */
	/* Files with a bearer token, or with the password of @user; "": none. Over https only. */
	const char *token_file, *user, *password_file;
	bool insecure;
	uint64_t step_ns;
	enum metric_level level;
};

/*
 * Starts it, and waits until it has read the page for the first time: 0, or -errno with a
 * diagnosis, as where the step is too short for the exporter's interval. The process ends with
 * ours. The caller has blocked SIGINT, SIGTERM and SIGHUP.
 */
int scraper_start(const struct scraper_options *options, pid_t *ret, struct diag *diag);
/* Reads the page a last time and ends the process: 0, or -EIO after a message. */
int scraper_end(pid_t pid);
