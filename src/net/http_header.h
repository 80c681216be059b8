/* SPDX-License-Identifier: Apache-2.0 */
/* A header of a request. */
#pragma once

/* Names of secrets (http_header_is_secret()) go over https:// only. */
struct http_header {
	const char *name, *value;
};
