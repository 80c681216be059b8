// SPDX-License-Identifier: Apache-2.0
#include "kube/kube_account.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define IN_CLUSTER_DIR "/var/run/secrets/kubernetes.io/serviceaccount"

/* NULL if it is not set, or empty. */
static const char *from_environment(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

int kube_account_find(const char *kubeconfig, const char *context, const char *in_cluster_dir,
		      struct kube_access *ret, struct diag *diag)
{
	const char *dir = in_cluster_dir && *in_cluster_dir ? in_cluster_dir : IN_CLUSTER_DIR;
	const char *host = from_environment("KUBERNETES_SERVICE_HOST");

	if (kubeconfig && *kubeconfig)
		return kube_access_from_kubeconfig(kubeconfig, context && *context ? context : NULL,
						   ret, diag);
	if (host || access(dir, F_OK) == 0)
		return kube_access_in_cluster(
			dir, host, from_environment("KUBERNETES_SERVICE_PORT"), ret, diag);
	return diag_set(diag, -EDESTADDRREQ,
			"no API server: not in a pod (KUBERNETES_SERVICE_HOST is not set), and no "
			"kubeconfig given");
}
