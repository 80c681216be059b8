/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address and credentials for the API server, from a kubeconfig file or from the service account of
 * the pod.
 *
 * Certificates and keys that a kubeconfig holds as data are kept in memory files, because the TLS
 * library needs paths; they never reach a disk. Settings that would weaken or bypass the checks are
 * refused: insecure-skip-tls-verify, and exec and auth-provider plug-ins, which would have to be
 * run. Credentials that are not the account's own are refused, too: a user's password, and
 * impersonation.
 *
 * Files with secrets that a kubeconfig names, and the kubeconfig itself if it holds one, must be
 * accessible to their owner only (mode 0600 or less), or be a credential of systemd (directly in
 * $CREDENTIALS_DIRECTORY, owned by root or this user, mode 0440 or less). A service account's token
 * has the mode that the kubelet gave it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"

#define KUBE_ACCESS_FDS 3

struct kube_access {
	char *server; /* "https://10.96.0.1:443", no slash at its end; NULL unknown */
	char *ca_file, *client_cert_file, *client_key_file; /* NULL none */
	char *token;                                        /* literal, or NULL */
	char *token_file;           /* read again for each request, or NULL */
	bool token_file_is_private; /* other users must not be able to read it */
	bool client_key_is_private; /* the same for a file that is not in memory */
	char *tls_server_name;      /* NULL: the host of @server */
	char *proxy_url;            /* http://, socks5h://; NULL: the proxy of the environment */
	int data_fds[KUBE_ACCESS_FDS];
	size_t data_count;
};

void kube_access_init(struct kube_access *access);
void kube_access_release(struct kube_access *access);
/* 0; -EPERM with diag when other users can read the client's key; for each use of it. */
int kube_access_check_key(const struct kube_access *access, struct diag *diag);
/*
 * Reads @context (NULL: current-context) of the kubeconfig at @path. 0, or -errno with diag that
 * names file and line: -EINVAL, -EOPNOTSUPP (refused), -EPERM (readable by others), -ENOENT …
 */
int kube_access_from_kubeconfig(const char *path, const char *context, struct kube_access *ret,
				struct diag *diag);
/*
 * The service account in @dir; @host and @port are KUBERNETES_SERVICE_HOST and _PORT, or NULL: then
 * only the token and the CA are known. 0, -EINVAL or -ENOMEM.
 */
int kube_access_in_cluster(const char *dir, const char *host, const char *port,
			   struct kube_access *ret, struct diag *diag);
/*
 * The token to send now, to be freed with kube_token_free(); NULL in *ret without a token. 0;
 * -errno with diag if its file cannot be read or is empty.
 */
int kube_access_token(const struct kube_access *access, char **ret, struct diag *diag);
void kube_token_free(char *token); /* wipes it */
