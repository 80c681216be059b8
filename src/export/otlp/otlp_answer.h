/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer of a receiver of OTLP (opentelemetry-proto, docs/specification.md, "OTLP/HTTP
 * Response"): after a success an ExportMetricsServiceResponse, which says how many points it did
 * not keep, and after a failure a google.rpc.Status. Pure: any bytes are read safely.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define OTLP_ANSWER_MESSAGE_MAX 160

struct otlp_answer {
	uint64_t rejected; /* data points that are lost for good; with 0 a message is a warning */
	char message[OTLP_ANSWER_MESSAGE_MAX]; /* printable ASCII, cut; "" none */
};

/* Both: 0, or -EPROTO: the bytes are not such a message, and *ret is empty. */
int otlp_answer_read_success(const void *bytes, size_t len, struct otlp_answer *ret);
int otlp_answer_read_failure(const void *bytes, size_t len, struct otlp_answer *ret);
