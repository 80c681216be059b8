/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The facts about a cluster: its nodes, the DaemonSets of Kepler with their pods and each pod's
 * page, the objects of the Prometheus operator, and the answers to questions about rights.
 * Objects are as the API server gives them. The judgement (cluster_judge.h) needs nothing else.
 * Pure.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "doctor/cluster/exporter_page.h"

#define CLUSTER_NODES_MAX      5000
#define CLUSTER_DAEMONSETS_MAX 8
#define CLUSTER_REFUSALS_MAX   24
#define KUBE_NAME_MAX          254 /* of an object, with the terminator */

/* By how much a clock is ahead of ours: a range, because answers take time and Date has seconds. */
struct clock_offset {
	bool is_known;
	double least_s, most_s;
};

enum page_state {
	PAGE_NOT_ASKED, /* its pod does not run, or time was over */
	PAGE_READ,
	PAGE_FAILED, /* with an HTTP status, or 0 */
};

struct cluster_pod {
	char name[KUBE_NAME_MAX];
	char reason[48];   /* why it does not run: "CrashLoopBackOff", "Unschedulable"; "" runs */
	char message[256]; /* of the reason */
	char last_end[48]; /* of its container's last process: "OOMKilled" */
	long long restarts;
	bool runs, is_ready;
	size_t daemonset; /* its index */
	enum page_state state;
	int status;
	char error[160];
	struct exporter_page page;
	struct clock_offset clock;
	double page_date_s; /* the Date of the page's answer, since 1970 */
};

struct cluster_node {
	char name[KUBE_NAME_MAX], kubelet[32];
	bool is_ready, is_linux;
	json_t *labels, *taints;  /* owned, or NULL */
	struct cluster_pod *pods; /* [pod_count], owned: those of Kepler */
	size_t pod_count;
	double lease_age_s; /* by our clock, when the lease was read; NaN: unknown */
};

/* A DaemonSet of Kepler; texts are borrowed from the object. */
struct cluster_daemonset {
	json_t *object;                           /* owned */
	const char *ns, *name, *account, *source; /* the value of kube.pods */
	const char *settle;                       /* the value of metrics.settle */
	const char *port_name;
	long long port;
	bool is_https;
	json_t *labels, *tolerations, *node_selector; /* of its pods, borrowed, may be NULL */
	char create_error[256];                       /* why its controller could not make pods */
};

/* A request that the API server refused or did not answer. */
struct cluster_refusal {
	const char *resource, *verb; /* static: "pods", "list" */
	const char *subresource;     /* "" none */
	const char *group;           /* "" the core's */
	char ns[KUBE_NAME_MAX];      /* "" all */
	int status;                  /* of HTTP; 0: no answer */
	char message[200];
};

/* Answers to "may the service account of this DaemonSet …". */
struct cluster_right {
	size_t daemonset;
	const char *verb, *resource, *subresource; /* static */
	bool is_known, is_allowed;
};
#define CLUSTER_RIGHTS_MAX ((size_t)4 * CLUSTER_DAEMONSETS_MAX)

struct cluster_facts {
	char server[256], version[32]; /* the address, and of Kubernetes */
	char own_version[48];          /* of this program */
	struct clock_offset clock;     /* of the API server */
	struct cluster_node *nodes;    /* owned */
	size_t node_count, nodes_left_out;
	struct cluster_daemonset daemonsets[CLUSTER_DAEMONSETS_MAX];
	size_t daemonset_count, daemonsets_left_out;
	/* Arrays of objects; NULL: the server has no such kind, or they could not be read. */
	json_t *pod_monitors, *service_monitors, *prometheuses, *agents, *namespaces, *services;
	bool has_operator; /* the server knows the kinds of the Prometheus operator */
	struct cluster_right rights[CLUSTER_RIGHTS_MAX];
	size_t right_count;
	struct cluster_refusal refusals[CLUSTER_REFUSALS_MAX];
	size_t refusal_count;
	size_t pages_too_late; /* not asked: the deadline, or the limit of bytes */
};

void cluster_facts_release(struct cluster_facts *facts);
/* An object of a list. 0 or -ENOMEM; anything else, or beyond a limit, is left out. */
int cluster_facts_take_node(struct cluster_facts *facts, const json_t *node);
int cluster_facts_take_daemonset(struct cluster_facts *facts, json_t *daemonset);
/*
 * A pod of the DaemonSet with that index: it goes to the node it runs on or is to run on. Nodes
 * come first; a pod of an unknown node, and one that has ended, is left out.
 */
int cluster_facts_take_pod(struct cluster_facts *facts, size_t daemonset, const json_t *pod);
/* The time of a Lease's last renewal, by its node's clock; @now_s is ours. */
void cluster_facts_take_lease(struct cluster_facts *facts, const json_t *lease, double now_s);
struct cluster_node *cluster_facts_node(const struct cluster_facts *facts, const char *name);

/* "2026-11-29T13:00:00.000000Z" as seconds since 1970; NaN: another text. */
double kube_time_s(const char *text);
#define KUBE_END ((const char *)NULL) /* of a path of keys */
/* A text in an object, by a path of keys that ends with KUBE_END; "" if it is not there. */
const char *kube_text(const json_t *object, const char *key, ...) __attribute__((sentinel));
/* The value there, or NULL. */
json_t *kube_at(const json_t *object, const char *key, ...) __attribute__((sentinel));
