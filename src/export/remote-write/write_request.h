/* SPDX-License-Identifier: Apache-2.0 */
/* The headers by which a request states its version of remote write (specification, "Protocol"). */
#pragma once

#include <stdbool.h>

#include "net/http_client.h"

static inline struct http_header write_request_version(bool is_version_1)
{
	return (struct http_header){ "X-Prometheus-Remote-Write-Version",
				     is_version_1 ? "0.1.0" : "2.0.0" };
}

static inline const char *write_request_type(bool is_version_1)
{
	return is_version_1 ? "application/x-protobuf"
			    : "application/x-protobuf;proto=io.prometheus.write.v2.Request";
}
