// SPDX-License-Identifier: Apache-2.0
/* Credentials: their place in a pod, and how they are read when they are needed. */
#include "kube/kube_access.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macro.h"
#include "base/secret_file.h"

#define TOKEN_MAX 16384

void kube_access_init(struct kube_access *access)
{
	*access = (struct kube_access){ 0 };
}

void kube_token_free(char *token)
{
	if (token)
		explicit_bzero(token, strlen(token));
	free(token);
}

void kube_access_release(struct kube_access *access)
{
	free(access->server);
	free(access->ca_file);
	free(access->client_cert_file);
	free(access->client_key_file);
	kube_token_free(access->token);
	free(access->token_file);
	free(access->tls_server_name);
	free(access->proxy_url);
	for (size_t i = 0; i < access->data_count; i++)
		(void)close(access->data_fds[i]);
	kube_access_init(access);
}

static char *join(const char *dir, const char *name)
{
	char path[4096];

	return path_join(path, sizeof(path), dir, name) < 0 ? NULL : strdup(path);
}

int kube_access_in_cluster(const char *dir, const char *host, const char *port,
			   struct kube_access *ret, struct diag *diag)
{
	CLEANUP(kube_access_release) struct kube_access access = { 0 };
	const char *colon = host ? strchr(host, ':') : NULL; /* IPv6 */
	char server[512];
	int len;

	access.ca_file = join(dir, "ca.crt");
	access.token_file = join(dir, "token");
	if (!access.ca_file || !access.token_file)
		return diag_set(diag, -ENOMEM, "out of memory");
	if (host && *host) {
		len = snprintf(server, sizeof(server), "https://%s%s%s:%s", colon ? "[" : "", host,
			       colon ? "]" : "", port && *port ? port : "443");
		if (len < 0 || (size_t)len >= sizeof(server))
			return diag_set(diag, -EINVAL, "KUBERNETES_SERVICE_HOST is too long");
		access.server = strdup(server);
		if (!access.server)
			return diag_set(diag, -ENOMEM, "out of memory");
	}
	*ret = access;
	kube_access_init(&access);
	return 0;
}

int kube_access_check_key(const struct kube_access *access, struct diag *diag)
{
	return access->client_key_is_private ? secret_file_check(access->client_key_file, diag) : 0;
}

int kube_access_token(const struct kube_access *access, char **ret, struct diag *diag)
{
	char *token = NULL;
	size_t len = 0;
	int r;

	*ret = NULL;
	if (!access->token_file) {
		token = access->token ? strdup(access->token) : NULL;
		*ret = token;
		return access->token && !token ? diag_set(diag, -ENOMEM, "out of memory") : 0;
	}
	r = access->token_file_is_private ? secret_file_check(access->token_file, diag) : 0;
	if (r < 0)
		return r;
	r = read_file_alloc(access->token_file, TOKEN_MAX, &token, &len);
	if (r < 0)
		return diag_set(diag, r, "%s: %s", access->token_file, strerror(-r));
	while (len > 0 && strchr(" \t\r\n", token[len - 1]))
		token[--len] = '\0';
	if (len == 0) {
		free(token);
		return diag_set(diag, -EINVAL, "%s contains no token", access->token_file);
	}
	*ret = token;
	return 0;
}
