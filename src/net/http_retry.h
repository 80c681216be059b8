/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The meaning of an answer to pushed data, and the time at which the same data may be sent again.
 * Pure: random bits are passed in. Rules: Prometheus remote write 1.0 and 2.0, "Retries & Backoff";
 * OTLP, "Failures".
 *
 * Delays begin at first_ms and double up to max_ms; each is shortened by chance to at least its
 * half, so that a thousand senders that failed together do not return together. A time that the
 * receiver sent (Retry-After) is never shortened, but it counts at most HTTP_RETRY_TOLD_MAX_MS.
 */
#pragma once

#include <stdint.h>

#define HTTP_RETRY_TOLD_MAX_MS 300000

/* The failures after which data are sent again, besides 429 and a connection that failed. */
enum http_retry_rule {
	HTTP_RETRY_ALL_5XX,     /* remote write */
	HTTP_RETRY_UNAVAILABLE, /* 502, 503 and 504: OTLP */
};

enum http_outcome {
	HTTP_ACCEPTED, /* 2xx */
	HTTP_LATER,    /* the same data may be sent again */
	HTTP_REFUSED,  /* never again: other 4xx, redirects, 5xx that the rule does not name */
};

/* @status: of the answer; 0: there was none. */
enum http_outcome http_retry_outcome(int status, enum http_retry_rule rule);

struct http_retry {
	uint64_t first_ms, max_ms;
	uint64_t delay_ms; /* the last one, before chance; 0 after a success */
};

void http_retry_succeeded(struct http_retry *retry);
/*
 * How long to wait after HTTP_LATER. @told_ms: of Retry-After, 0 none; @chance: anything of 32
 * evenly drawn bits.
 */
uint64_t http_retry_failed(struct http_retry *retry, uint64_t told_ms, uint32_t chance);
