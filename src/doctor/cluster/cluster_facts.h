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
#include "doctor/cluster/exporter_settings.h"
#include "doctor/cluster/kube_object.h"

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
	double last_end_s; /* times are since 1970, by the API server's clock; NaN: unknown */
	double created_s;
	long long restarts;
	bool runs, is_ready;
	bool is_ending;   /* it is being deleted */
	bool has_ended;   /* for good, as an evicted pod: another one takes its place */
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
	double settled_s;         /* it came, or became ready; as the times of a pod */
	json_t *labels, *taints;  /* owned, or NULL */
	struct cluster_pod *pods; /* [pod_count], owned: those of Kepler */
	size_t pod_count;
	double lease_age_s; /* by our clock, when the lease was read; NaN: unknown */
};

/* A DaemonSet of Kepler; texts are borrowed from the object. */
struct cluster_daemonset {
	json_t *object; /* owned */
	const char *ns, *name, *account;
	json_t *pod_spec, *labels; /* of its pods, borrowed; labels may be NULL */
	const json_t *container;   /* Kepler's, of a pod */
	struct exporter_settings settings;
	const char *port_name;
	long long port;
	bool is_https;
	bool pods_are_known;     /* all of them, so that none has a meaning */
	bool services_are_known; /* all of its namespace */
	double changed_s;        /* its specification, last; as the times of a pod */
	char create_error[256];  /* why its controller could not make pods */
};

/* Objects of one kind, as the API server gives them. */
struct cluster_list {
	json_t *items; /* an array, owned; NULL: the kind is unknown, or was not read */
	bool is_whole; /* what is not in it does not exist; true for a kind that is unknown */
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
	double now_s;                  /* by that clock, when the lists were read; since 1970 */
	struct cluster_node *nodes;    /* owned */
	size_t node_count, nodes_left_out;
	struct cluster_daemonset daemonsets[CLUSTER_DAEMONSETS_MAX];
	size_t daemonset_count, daemonsets_left_out;
	bool daemonsets_are_known; /* all that have the label */
	struct cluster_list pod_monitors, service_monitors, prometheuses, agents, namespaces;
	struct cluster_list services; /* of the namespaces of the DaemonSets */
	bool has_operator;            /* the server knows the kinds of the Prometheus operator */
	struct cluster_right rights[CLUSTER_RIGHTS_MAX];
	size_t right_count;
	struct cluster_refusal refusals[CLUSTER_REFUSALS_MAX];
	size_t refusal_count;
	size_t pages_too_late; /* not asked: the deadline, or the limit of bytes */
};

void cluster_facts_release(struct cluster_facts *facts);
/*
 * An object of a list. 0 or -ENOMEM; anything else, an object with an invalid name, and one beyond
 * a limit are left out.
 */
int cluster_facts_take_node(struct cluster_facts *facts, const json_t *node);
int cluster_facts_take_daemonset(struct cluster_facts *facts, json_t *daemonset);
/*
 * A pod of the DaemonSet with that index: it goes to the node it runs on or is to run on. Nodes
 * come first; a pod of an unknown node, or of another controller, is left out.
 */
int cluster_facts_take_pod(struct cluster_facts *facts, size_t daemonset, const json_t *pod);
/* The time of a Lease's last renewal, by its node's clock; @now_s is ours. */
void cluster_facts_take_lease(struct cluster_facts *facts, const json_t *lease, double now_s);
struct cluster_node *cluster_facts_node(const struct cluster_facts *facts, const char *name);
