/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads one rate from its file or URL. Belongs to one thread, which may wait: a file may be on a
 * mount that hangs, a request takes ten seconds at most. Keys are read again for each request, are
 * sent over https alone, and never reach a diagnosis.
 */
#pragma once

#include <stdint.h>

#include "base/diag.h"
#include "rates/rate_answer.h"
#include "rates/rate_options.h"
#include "rates/rate_provider.h"

struct http_client;

struct rate_feed {
	const struct rate_feed_options *options; /* borrowed */
	const struct rate_provider *provider;    /* NULL: it is a file */
	struct http_client *client;
	char *token;     /* that a login got */
	int64_t token_s; /* when */
};

/* 0, or -errno with a diagnosis: no library for requests. @cancel_fd: see http_client.h. */
int rate_feed_open(const struct rate_feed_options *options, int cancel_fd, struct rate_feed *ret,
		   struct diag *diag);
void rate_feed_close(struct rate_feed *feed);
/* The rate, in its unit; @now_s: UTC. 0, or -errno with a diagnosis. */
int rate_feed_read(struct rate_feed *feed, int64_t now_s, struct rate_reading *ret,
		   struct diag *diag);
