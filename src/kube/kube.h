/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names from Kubernetes: a thread that keeps the directory of containers up to date for this node's
 * pods, from the kubelet or from the API server.
 *
 * kubelet: GET /pods every 15 s, and when an unknown container appears, at most once a second;
 * needs only the permission nodes/pods (or nodes/proxy before it existed). apiserver: list and
 * watch of pods with fieldSelector=spec.nodeName: paged (limit/continue), bookmarks, resumed from
 * the last resourceVersion. Faults back off as described in src/net/backoff.h. A bad pod is
 * skipped and counted, the others are used. docs/design/kubernetes.md has the reasons.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

struct directory;
struct kube;
struct pod_addresses;

enum kube_source { KUBE_OFF, KUBE_AUTO, KUBE_KUBELET, KUBE_APISERVER };

/* Periods and deadlines in milliseconds; 0: the default in the comment. */
struct kube_timing {
	uint64_t poll;    /* 15,000: of the kubelet */
	uint64_t demand;  /* 1,000: between polls by demand; longer while they bring nothing */
	uint64_t connect; /* 5,000 */
	/* 30,000: of a list as a whole, until a watch begins, and of one event of it */
	uint64_t request;
	uint64_t watch_idle; /* 120,000: a watch without an event, not even a bookmark */
	uint64_t watch_life; /* 300,000: requested, plus a random time of up to as much */
	uint64_t refused_min, refused_max; /* 2,000 and 9,000: see backoff.h */
	uint64_t resume;                   /* 1,000, plus a random time of up to as much */
	uint64_t retry, retry_spread;      /* 10,000 and 2,000 */
	uint64_t denied_max;               /* 40,000 */
	/* 300,000 of uptime, in which the API server's first list may be up to 10,000 late */
	uint64_t boot_window, boot_spread;
};

/* "" counts as NULL. */
struct kube_options {
	enum kube_source source;     /* AUTO: kubelet where it answers, else the API server */
	const char *kubeconfig;      /* path; NULL: in-cluster, as KUBERNETES_SERVICE_HOST says */
	const char *context;         /* of the kubeconfig; NULL: its current-context */
	const char *node_name;       /* NULL: $NODE_NAME, else the host name */
	const char *kubelet_url;     /* NULL: https://$NODE_IP:10250, 127.0.0.1 without NODE_IP */
	const char *kubelet_ca_file; /* NULL: the CA of the API server */
	const char *pod_labels;      /* "app,team": labels and annotations to show; NULL none */
	const char *pod_resources;   /* not used here: see kube/pods/pod_resources.h */
	const char *in_cluster_dir;  /* NULL: /var/run/secrets/kubernetes.io/serviceaccount */
	struct pod_addresses *addresses; /* to be kept up to date; it gets a reference; or NULL */
	uint64_t max_pod_bytes;          /* of one pod's JSON; 0: 2 MiB */
	uint32_t max_pods;               /* 0: 20,000 */
	uint64_t interval_ms;            /* see kube_set_interval() */
	struct kube_timing timing;
};

struct kube_stats {
	const char *source; /* "kubelet", "apiserver", "" while none answers */
	bool reachable;
	uint64_t requests; /* that a peer saw, without refused connections */
	uint64_t failures, relists, events, bad_pods;
	uint64_t labels_lost; /* of pods: cut, or left out for lack of room */
	uint64_t pods;
	double age_s; /* since the last word of the peer; NaN before the first */
	char last_error[256];
};

/*
 * Starts the thread. 0, or -errno with diag for permanent errors: an invalid kubeconfig, exec
 * credentials (-EOPNOTSUPP), no library (-ENOENT), no server to ask (-EDESTADDRREQ), a proxy that
 * cannot be used (-EINVAL; APISERVER only). A peer that is down is not an error. Strings of
 * @options are copied; @directory must outlive the thread.
 */
int kube_start(const struct kube_options *options, struct directory *directory, struct kube **ret,
	       struct diag *diag);
/* Returns within a second, unless a file that the kubeconfig names hangs. Takes NULL. */
void kube_stop(struct kube *kube);
/* How often names are looked up, 0: at any time. From any thread; for the next wait. */
void kube_set_interval(struct kube *kube, uint64_t interval_ms);
void kube_get_stats(struct kube *kube, struct kube_stats *ret);
