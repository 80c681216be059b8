/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answers of an exporter as they come: one for each of its intervals, from one request
 * (/api/v1/now?follow=), on a thread of its own, so that keys never wait for the exporter. One that
 * is older and answers once is asked again each second. One thread calls.
 */
#pragma once

#include "base/diag.h"
#include "base/strbuf.h"

struct top_feed;

/* Asks the exporter at @socket (borrowed) for @target. 0, or -errno with a diagnosis. */
int top_feed_open(const char *socket, struct top_feed **ret, struct diag *diag);
void top_feed_close(struct top_feed *feed); /* NULL is fine */
/* Follows @target from now on; answers to an earlier one are no longer given. */
void top_feed_want(struct top_feed *feed, const char *target);
/* Readable: top_feed_take() has something. */
int top_feed_fd(const struct top_feed *feed);
/*
 * The newest answer, in @ret. 0; -EAGAIN: none since the last call; or -errno with a diagnosis: the
 * exporter does not respond, or refuses. It is asked again.
 */
int top_feed_take(struct top_feed *feed, struct strbuf *ret, struct diag *diag);
