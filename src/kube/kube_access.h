/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where is the API server, and who are we to it? From a kubeconfig file or from the service account
 * of the pod that we run in.
 *
 * Certificates and keys that a kubeconfig holds as data are kept in memory files, because the TLS
 * library wants paths; they never reach a disk. What would weaken or bypass the checks is refused:
 * insecure-skip-tls-verify, and exec and auth-provider plug-ins, which would have to be run.
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
	char *token_file; /* read afresh for each request, or NULL */
	int data_fds[KUBE_ACCESS_FDS];
	size_t data_count;
};

void kube_access_init(struct kube_access *access);
void kube_access_release(struct kube_access *access);
/*
 * Reads @context (NULL: current-context) of the kubeconfig at @path. 0, or -errno with diag that
 * names file and line: -EINVAL, -EOPNOTSUPP (refused), -ENOENT …
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
