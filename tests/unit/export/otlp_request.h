/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a request of OTLP as a receiver does: a list of data points, each with its resource. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OTLP_POINTS_MAX 4096

struct otlp_read_point {
	char resource[1024];  /* "a=b,c=d,", of the resource */
	char attributes[512]; /* the same, of the point */
	char metric[48];
	bool is_sum, is_monotonic, has_value;
	uint64_t temporality, flags, start_ns, time_ns;
	double value;
};

struct otlp_request {
	size_t resources, count;
	struct otlp_read_point points[OTLP_POINTS_MAX];
};

/* The test fails where the bytes are no request. */
void otlp_request_read(const void *bytes, size_t len, struct otlp_request *ret);
/* The value of an attribute in such a list, in a static buffer; "" none. */
const char *otlp_request_attribute(const char *list, const char *name);
