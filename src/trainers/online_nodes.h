/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which machines the nodes of a Prometheus are, and which nodes a collection has. Bounded.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "model/trained_model.h"

#define ONLINE_NODES_MAX 256

struct online_nodes {
	char names[ONLINE_NODES_MAX][MODEL_NAME_MAX]; /* instances; "*" all others */
	struct machine_spec machines[ONLINE_NODES_MAX];
	size_t count;
};

/* From the option "machines"; "": all nodes are like this machine. 0 or -errno, diagnosed. */
int online_nodes_read(const char *path, struct online_nodes *ret, struct diag *diag);
/* NULL: the node is not one of them. */
const struct machine_spec *online_nodes_find(const struct online_nodes *nodes, const char *name);

struct online_instances {
	char names[ONLINE_NODES_MAX][MODEL_NAME_MAX];
	size_t count;
	uint64_t left_out; /* series of more instances than that */
};

/*
 * A search for the instances in a file of series, each once, "" for those without. The file may
 * have gigabytes, so it is read on a thread of its own.
 */
struct online_search {
	pthread_t thread;
	bool running;                  /* the thread is to be joined */
	bool cancelled, is_over;       /* by atomic operations */
	char *path;                    /* owned */
	struct online_instances found; /* the thread's until it is over */
	struct diag diag;
	int result;
};

/* 0, or -errno with a diagnosis. */
int online_search_begin(struct online_search *search, const char *path, struct diag *diag);
bool online_search_is_over(const struct online_search *search);
/* Cancels it if it is not over; its result: 0, or -errno with the diagnosis in it. */
int online_search_end(struct online_search *search);
