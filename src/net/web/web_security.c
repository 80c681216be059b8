// SPDX-License-Identifier: Apache-2.0
#include "net/web/web_security.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/macro.h"
#include "base/secret_file.h"

#define PEM_MAX (1U << 20)

struct pems {
	char *certificate, *key, *ca; /* NULL: not set */
};

static void clear_and_free(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

static void pems_release(struct pems *pems)
{
	free(pems->certificate);
	clear_and_free(pems->key);
	free(pems->ca);
}

struct web_security *web_security_ref(struct web_security *security)
{
	if (security)
		__atomic_fetch_add(&security->references, 1, __ATOMIC_RELAXED);
	return security;
}

void web_security_unref(struct web_security *security)
{
	if (!security || __atomic_fetch_sub(&security->references, 1, __ATOMIC_ACQ_REL) != 1)
		return;
	web_tls_free(security->tls);
	web_config_free(security->config);
	web_files_release(&security->files);
	free(security);
}

static void unref(struct web_security **security)
{
	web_security_unref(*security);
}

static void remark(struct web_security *security, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void remark(struct web_security *security, const char *fmt, ...)
{
	size_t len = strlen(security->remark);
	va_list ap;

	if (len)
		len += (size_t)snprintf(security->remark + len, sizeof(security->remark) - len,
					"; ");
	if (len >= sizeof(security->remark))
		return;
	va_start(ap, fmt);
	(void)vsnprintf(security->remark + len, sizeof(security->remark) - len, fmt, ap);
	va_end(ap);
}

/* Takes an inline text, or reads the file. */
static int load_pem(struct web_security *security, const char *name, const char *key,
		    struct web_pem *pem, bool secret, char **ret, struct diag *diag)
{
	struct diag why = { "" };
	size_t len;
	int r = 0;

	if (pem->text) {
		*ret = TAKE_PTR(pem->text);
		return 0;
	}
	if (!pem->path)
		return 0;
	if (web_files_add(&security->files, pem->path) < 0)
		return diag_set(diag, -ENOMEM, "out of memory");
	if (secret)
		r = secret_file_check(pem->path, &why);
	if (r == 0) {
		r = read_file_alloc(pem->path, PEM_MAX, ret, &len);
		if (r < 0)
			(void)diag_set(&why, r, "%.300s cannot be read: %s", pem->path,
				       strerrordesc_np(-r));
	}
	return r < 0 ? diag_set(diag, r, "%s:%zu:%zu: tls_server_config.%s: %s", name, pem->line,
				pem->column, key, why.text)
		     : 0;
}

static void remark_on_end(struct web_security *security)
{
	int days = web_tls_days_left(security->tls, (int64_t)time(NULL));

	if (days < 0)
		remark(security, "the certificate has expired, so clients refuse it: renew it");
}

static int load_tls(struct web_security *security, const char *name, struct diag *diag)
{
	CLEANUP(pems_release) struct pems pems = { NULL };
	struct web_config *config = security->config;
	struct diag why = { "" };
	int r = 0;

	if (config->key.text)
		r = secret_file_check(name, diag);
	if (r == 0)
		r = load_pem(security, name, "cert_file", &config->cert, false, &pems.certificate,
			     diag);
	if (r == 0)
		r = load_pem(security, name, "key_file", &config->key, true, &pems.key, diag);
	if (r == 0)
		r = load_pem(security, name, "client_ca_file", &config->client_ca, false, &pems.ca,
			     diag);
	if (r < 0)
		return r;
	r = web_tls_new(config, pems.certificate, pems.key, pems.ca, &security->tls, &why);
	if (r < 0)
		return diag_set(diag, r, "%s:%zu:%zu: tls_server_config: %s", name,
				config->cert.line, config->cert.column, why.text);
	remark_on_end(security);
	if (config->asks_http2)
		remark(security, "http2: true is not supported; connections use HTTP/1.1");
	return 0;
}

/* Unlike a key they can be kept by others for years of guessing, but many files are like that. */
static void remark_on_hashes(struct web_security *security)
{
	const struct stat *at = &security->files.list[0].at;

	if (security->config->user_count && (at->st_mode & S_IROTH))
		remark(security,
		       "all users of this machine can read the password hashes: chmod o= FILE");
}

int web_security_open(const char *path, struct web_security **ret, struct diag *diag)
{
	CLEANUP(unref) struct web_security *security = calloc(1, sizeof(*security));
	char *text = NULL;
	size_t len = 0;
	int r;

	if (!security)
		return diag_set(diag, -ENOMEM, "out of memory");
	security->references = 1;
	if (web_files_add(&security->files, path) < 0)
		return diag_set(diag, -ENOMEM, "out of memory");
	r = read_file_alloc(path, WEB_CONFIG_MAX, &text, &len);
	if (r < 0)
		return diag_set(diag, r, "web.config-file: %.300s cannot be read: %s", path,
				strerrordesc_np(-r));
	r = web_config_parse(path, text, len, &security->config, diag);
	clear_and_free(text);
	if (r == 0 && security->config->has_tls)
		r = load_tls(security, path, diag);
	if (r < 0)
		return r;
	remark_on_hashes(security);
	*ret = TAKE_PTR(security);
	return 0;
}
