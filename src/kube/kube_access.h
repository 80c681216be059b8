/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where is the API server, and who are we to it? From a kubeconfig file or from the service account
 * of the pod that we run in.
 *
 * Certificates and keys that a kubeconfig holds as data are kept in memory files, because the TLS
 * library wants paths; they never reach a disk. What would weaken or bypass the checks is refused:
 * insecure-skip-tls-verify, and exec and auth-provider plug-ins, which would have to be run. So is
 * what is no account's own credential: a user's password, and to act as somebody else.
 *
 * Files with secrets that a kubeconfig names, and itself where it holds one, must be their owner's
 * alone (mode 0600 or less), or a credential of systemd (directly in $CREDENTIALS_DIRECTORY, root's
 * or ours, mode 0440 or less). A service account's token has the mode that the kubelet gave it.
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
	char *token_file;           /* read afresh for each request, or NULL */
	bool token_file_is_private; /* others must not be able to read it */
	bool client_key_is_private; /* the same of a file that is no memory file */
	char *tls_server_name;      /* NULL: what @server says */
	char *proxy_url;            /* http://, socks5h://; NULL: as the environment says */
	int data_fds[KUBE_ACCESS_FDS];
	size_t data_count;
};

void kube_access_init(struct kube_access *access);
void kube_access_release(struct kube_access *access);
/* 0; -EPERM with diag when @path can be read by others; a file that is not there is no matter. */
int kube_access_check_private(const char *path, struct diag *diag);
/* The same of the client's key, for each use. */
int kube_access_check_key(const struct kube_access *access, struct diag *diag);
/*
 * Reads @context (NULL: current-context) of the kubeconfig at @path. 0, or -errno with diag that
 * names file and line: -EINVAL, -EOPNOTSUPP (refused), -EPERM (open to others), -ENOENT …
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
 * The token to send now, to be freed with kube_token_free(); NULL in *ret where there is none. 0;
 * -errno with diag when its file cannot be read or is empty.
 */
int kube_access_token(const struct kube_access *access, char **ret, struct diag *diag);
void kube_token_free(char *token); /* wipes it */
