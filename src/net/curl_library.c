// SPDX-License-Identifier: Apache-2.0
/*
 * Finds libcurl and the functions of it that are called here. It is never unloaded: its TLS library
 * may hold data of threads.
 */
#include "net/curl_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>

#include "base/macro.h"
#include "base/shared_library.h"

static const char *const library_names[] = { "libcurl-gnutls.so.4", "libcurl.so.4" };

#define SYMBOL(name)                                                                               \
	{                                                                                          \
		"curl_" #name, offsetof(struct curl_library, name)                                 \
	}
static const struct shared_function symbols[] = {
	SYMBOL(global_init),         SYMBOL(easy_init),     SYMBOL(easy_cleanup),
	SYMBOL(easy_reset),          SYMBOL(easy_setopt),   SYMBOL(easy_getinfo),
	SYMBOL(easy_strerror),       SYMBOL(slist_append),  SYMBOL(slist_free_all),
	SYMBOL(multi_init),          SYMBOL(multi_cleanup), SYMBOL(multi_add_handle),
	SYMBOL(multi_remove_handle), SYMBOL(multi_perform), SYMBOL(multi_poll),
	SYMBOL(multi_info_read),
};

static struct {
	pthread_once_t once;
	struct curl_library functions;
	int error;
	const char *missing; /* a function */
} library = { .once = PTHREAD_ONCE_INIT };

static void load(void)
{
	void *handle = NULL;

	for (size_t i = 0; !handle && i < ARRAY_SIZE(library_names); i++)
		handle = dlopen(library_names[i], RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		library.error = -ENOENT;
		return;
	}
	library.missing =
		shared_library_find(handle, symbols, ARRAY_SIZE(symbols), &library.functions);
	if (library.missing)
		library.error = -ENOSYS;
	else if (library.functions.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		library.error = -EIO;
}

int curl_library_get(const struct curl_library **ret, struct diag *diag)
{
	(void)pthread_once(&library.once, load);
	if (library.error == -ENOENT)
		return diag_set(diag, -ENOENT,
				"%s is not installed; HTTP clients need it (Debian: apt install "
				"libcurl3-gnutls)",
				library_names[0]);
	if (library.error == -ENOSYS)
		return diag_set(diag, -ENOSYS, "%s is too old: it lacks %s", library_names[0],
				library.missing);
	if (library.error < 0)
		return diag_set(diag, library.error, "%s could not start", library_names[0]);
	*ret = &library.functions;
	return 0;
}

int curl_library_errno(CURLcode code)
{
	static const struct {
		CURLcode code;
		int err;
	} table[] = {
		{ CURLE_OK, 0 },
		{ CURLE_OPERATION_TIMEDOUT, -ETIMEDOUT },
		{ CURLE_COULDNT_CONNECT, -ECONNREFUSED },
		{ CURLE_COULDNT_RESOLVE_HOST, -EHOSTUNREACH },
		{ CURLE_COULDNT_RESOLVE_PROXY, -EHOSTUNREACH },
		{ CURLE_PEER_FAILED_VERIFICATION, -EACCES },
		{ CURLE_SSL_CACERT_BADFILE, -EACCES },
		{ CURLE_SSL_CERTPROBLEM, -EACCES },
		{ CURLE_SSL_ISSUER_ERROR, -EACCES },
		{ CURLE_SSL_CONNECT_ERROR, -EPROTO },
		{ CURLE_WEIRD_SERVER_REPLY, -EPROTO },
		{ CURLE_PARTIAL_FILE, -EPROTO },
		{ CURLE_GOT_NOTHING, -EPROTO },
		{ CURLE_SEND_ERROR, -EPROTO },
		{ CURLE_RECV_ERROR, -EPROTO },
		{ CURLE_BAD_CONTENT_ENCODING, -EPROTO },
		{ CURLE_UNSUPPORTED_PROTOCOL, -EINVAL },
		{ CURLE_URL_MALFORMAT, -EINVAL },
		{ CURLE_OUT_OF_MEMORY, -ENOMEM },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if (table[i].code == code)
			return table[i].err;
	}
	return -EIO;
}
