/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcurl, loaded when it is first needed: with the 38 libraries that it depends on it costs 5 MB,
 * which a host without Kubernetes, a BMC or a receiver should not pay.
 *
 * The headers are those of libcurl4-gnutls-dev; either flavour of the library fits them. GnuTLS is
 * taken where it is installed (Debian's libcurl3-gnutls), else OpenSSL's (libcurl4).
 */
#pragma once

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "base/diag.h"

struct curl_library {
	__typeof__(curl_global_init) *global_init;
	__typeof__(curl_easy_init) *easy_init;
	__typeof__(curl_easy_cleanup) *easy_cleanup;
	__typeof__(curl_easy_reset) *easy_reset;
	__typeof__(curl_easy_setopt) *easy_setopt;
	__typeof__(curl_easy_getinfo) *easy_getinfo;
	__typeof__(curl_easy_strerror) *easy_strerror;
	__typeof__(curl_slist_append) *slist_append;
	__typeof__(curl_slist_free_all) *slist_free_all;
	__typeof__(curl_multi_init) *multi_init;
	__typeof__(curl_multi_cleanup) *multi_cleanup;
	__typeof__(curl_multi_add_handle) *multi_add_handle;
	__typeof__(curl_multi_remove_handle) *multi_remove_handle;
	__typeof__(curl_multi_perform) *multi_perform;
	__typeof__(curl_multi_poll) *multi_poll;
	__typeof__(curl_multi_info_read) *multi_info_read;
};

/*
 * The library, loaded once for the whole life of the process, from any thread. 0; -ENOENT when it
 * is not installed (diag names the package), -ENOSYS when it is too old.
 */
int curl_library_get(const struct curl_library **ret, struct diag *diag);
/* The result of a libcurl function as 0 or -errno; -EIO without a closer one. */
int curl_library_errno(CURLcode code);
