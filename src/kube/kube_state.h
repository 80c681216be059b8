/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of the thread that asks kubelet and API server, and what the two sources do with it.
 * Everything except the statistics belongs to the thread.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "kube/kube.h"
#include "kube/kube_access.h"
#include "kube/pods/pod_labels.h"
#include "kube/pods/pod_table.h"
#include "net/backoff.h"
#include "net/http_client.h"

/* The position in the API server's events, so that a watch can be resumed after a fault. */
struct apiserver_state {
	char resource_version[64]; /* "": list first */
	bool expired;              /* the next list must not come from the server's cache */
	bool relisted;             /* at once, because of a 410, and no watch has lasted since */
	bool listed;               /* otherwise, and no watch has lasted since */
	bool resumed;              /* after a cut, and no watch has lasted since */
	unsigned watch_failures;   /* that may be the version's, since a watch last began */
	bool asked;                /* at all */
};

struct kube {
	enum kube_source source;
	char *node_name, *kubelet_url, *kubelet_ca_file;
	uint64_t max_pod_bytes;
	_Atomic uint64_t interval_ms; /* the loop's, whose thread sets it */
	struct kube_timing timing;
	struct kube_access access;
	struct pod_labels labels;
	struct directory *directory;
	struct http_client *apiserver_client, *kubelet_client; /* NULL: not used */
	struct pod_table table;
	struct apiserver_state apiserver;
	struct backoff backoff;
	int stop_fd, wanted_fd;
	pthread_t thread;
	bool started;

	pthread_mutex_t lock; /* for what follows */
	struct kube_stats stats;
	uint64_t last_word_ns; /* MONOTONIC; 0 never */
};

/* Why a source gave up for now. */
struct kube_fault {
	bool stopped;  /* kube_stop() */
	bool answered; /* it had worked since it was begun */
	struct backoff_failure failure;
};

/* Each runs until a fault, which it fills in. */
void apiserver_run(struct kube *kube, struct kube_fault *fault);
void kubelet_run(struct kube *kube, struct kube_fault *fault);

/* ---- for the sources (kube_peer.c) ---- */

struct kube_get {
	const char *url, *source; /* "apiserver", "kubelet": for messages and statistics */
	struct http_client *client;
	http_status_fn *status;
	http_body_fn *body;
	void *userdata;
	uint64_t timeout_ms, max_bytes; /* 0 none */
	const uint64_t *deadline_ns;    /* as in http_client.h */
};

/*
 * One request with today's token. 0 with the answer's status, or -errno. A request without an
 * answer is counted as a failure, unless @body itself ended it with -ESTALE; *fault gets the input
 * for the back-off.
 */
int kube_get(struct kube *kube, const struct kube_get *get, int *ret_status,
	     struct kube_fault *fault);
/* One pod's JSON from a list or an event: into table and directory, or counted as bad. */
void kube_take_pod_text(struct kube *kube, const char *text, size_t len);
void kube_take_pod(struct kube *kube, const json_t *object, const char *text, size_t len);
/* @source has just answered successfully. */
void kube_note_success(struct kube *kube, const char *source);
/* Sets the last failure in the statistics. */
void kube_note_failure(struct kube *kube, const char *source, const char *why);
void kube_count(struct kube *kube, uint64_t *counter); /* one of kube->stats */
void kube_count_by(struct kube *kube, uint64_t *counter, uint64_t by);
uint32_t kube_chance(void);
/* Waits, with @demand only until a container's name is wanted; true when the thread is to end. */
bool kube_wait(struct kube *kube, uint64_t ms, bool demand);
/* Returns true if a name was wanted since the last call. */
bool kube_take_demand(struct kube *kube);

/*
 * A list of pods: one page or all. *ret_version and *ret_continue (freed by the caller, "" none)
 * are its metadata's. 0 with the status; as kube_get() else.
 */
struct pod_list_page {
	int status;
	char *resource_version, *next;
};
int kube_list(struct kube *kube, const char *source, struct http_client *client, const char *url,
	      struct pod_list_page *ret, struct kube_fault *fault);
void pod_list_page_release(struct pod_list_page *page);
