/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What does Kubernetes say of this node's pods? A thread that keeps the directory of containers up
 * to date, from the kubelet or from the API server.
 *
 * kubelet: GET /pods every 15 s, and when an unknown container is met, at most once a second; wants
 * the permission nodes/pods (or nodes/proxy before it existed) and nothing else. apiserver: list
 * and watch of pods with fieldSelector=spec.nodeName: paged (limit/continue), bookmarks, resumed
 * from the last resourceVersion. Faults back off with jitter up to a minute, and never more often
 * than once in 10 s while the peer is down. A bad pod is skipped and counted, the rest stays.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

struct directory;
struct kube;

enum kube_source { KUBE_OFF, KUBE_AUTO, KUBE_KUBELET, KUBE_APISERVER };

struct kube_options {
	enum kube_source source;    /* AUTO: kubelet where it answers, else the API server */
	const char *kubeconfig;     /* path; NULL: in-cluster, as KUBERNETES_SERVICE_HOST says */
	const char *context;        /* of the kubeconfig; NULL: its current-context */
	const char *node_name;      /* NULL: $NODE_NAME, else the host name */
	const char *kubelet_url;    /* NULL: https://NODE_IP_OR_127.0.0.1:10250 */
	const char *pod_labels;     /* "app,team": labels and annotations to hand on; NULL none */
	const char *in_cluster_dir; /* NULL: /var/run/secrets/kubernetes.io/serviceaccount */
	uint64_t max_pod_bytes;     /* of one pod's JSON; 0: 2 MiB */
};

struct kube_stats {
	const char *source; /* "kubelet", "apiserver", "" while none answers */
	bool reachable;
	uint64_t requests, failures, relists, events, bad_pods;
	uint64_t pods;
	double age_s; /* since the last word of the peer; NaN before the first */
	char last_error[256];
};

/*
 * Starts the thread. 0, or -errno with diag for what can never work: a kubeconfig that is not one,
 * exec credentials (refused), no library. A peer that is down is no error.
 */
int kube_start(const struct kube_options *options, struct directory *directory, struct kube **ret,
	       struct diag *diag);
void kube_stop(struct kube *kube); /* returns within a second */
void kube_get_stats(struct kube *kube, struct kube_stats *ret);
