/* SPDX-License-Identifier: Apache-2.0 */
/* The API server that this program asks, and the account that it uses there. */
#pragma once

#include "base/diag.h"
#include "kube/kube_access.h"

/*
 * From the kubeconfig at @kubeconfig, or of the pod, whose service account is in @in_cluster_dir
 * (NULL: the usual directory). NULL counts as "". 0, or -errno with diag as in kube_access.h;
 * -EDESTADDRREQ: neither exists.
 */
int kube_account_find(const char *kubeconfig, const char *context, const char *in_cluster_dir,
		      struct kube_access *ret, struct diag *diag);
