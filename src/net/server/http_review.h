/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A third party that decides about bearer tokens: Kubernetes (kube/review/kube_review.h). The gate
 * (http_gate.h) asks it about each token that is not in its file.
 */
#pragma once

#include <stdint.h>

enum http_verdict {
	HTTP_ADMITTED,
	HTTP_UNAUTHORIZED, /* 401 */
	HTTP_UNDECIDED,    /* ask again */
	HTTP_CROWDED,      /* 503: too many wait for their verdict */
	HTTP_LIMITED,      /* 429: beyond the limit on requests */
	HTTP_FORBIDDEN,    /* 403: the token is valid, and its owner may not read this */
	HTTP_UNREVIEWED,   /* 503: the third party does not respond */
	HTTP_MALFORMED,    /* 400: this cannot be a namespace */
};

/* The page that a request asks for. Texts are borrowed. */
struct http_question {
	const char *token;     /* NULL before the gate has found it */
	const char *namespace; /* rows of this one only, as the peer sent it; NULL: everything */
	uint64_t peer;         /* a hash of the address */
	uint64_t network;      /* its IPv6 /64, or its IPv4 address: http_peer() */
};

struct http_reviewer {
	/*
	 * On the server's thread: it takes microseconds. HTTP_UNDECIDED: the answer is being
	 * fetched, and the question is to be asked again, some milliseconds later.
	 */
	enum http_verdict (*ask)(void *userdata, const struct http_question *question);
	void *userdata;
};
