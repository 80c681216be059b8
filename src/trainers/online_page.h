/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the online trainer, and its page of metrics. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/strbuf.h"
#include "net/backoff.h"
#include "trainers/online_clocks.h"
#include "trainers/online_models.h"
#include "trainers/online_nodes.h"

#define ONLINE_ROUTES 2

enum online_task {
	TASK_NONE,
	TASK_SEARCH, /* on a thread; the others are processes, and counted */
	TASK_COLLECT,
	TASK_EXTRACT,
	TASK_TRAIN,
	TASK_COUNT,
};

extern const char *const online_task_names[TASK_COUNT];

struct online {
	const struct online_config *config;
	struct online_nodes nodes;
	struct online_models models;
	struct online_search search; /* which instances a collection has */
	struct online_clocks clocks; /* of these */
	struct backoff backoff;
	/* ---- the current task ---- */
	enum online_task task;
	pid_t pid;
	uint64_t task_ns, next_ns;
	bool is_late;
	double from_s, to_s, until_s;      /* of the collection; of the latest rows */
	double latest_s[ONLINE_NODES_MAX]; /* of the rows that each learner has taken now */
	size_t at;                         /* which instance is extracted */
	struct learner *trained;
	unsigned retries; /* of this collection */
	/* ---- counted ---- */
	uint64_t done[TASK_COUNT], failed[TASK_COUNT], unknown_nodes, cycles;
	double seconds[TASK_COUNT];
	bool is_up;
	double alarms;
	/* ---- pages ---- */
	pthread_mutex_t lock;
	char *page; /* of metrics, under the lock */
	size_t page_len;
	struct http_route routes[ONLINE_ROUTES];
	struct http_server *server;
};

void online_page_print(const struct online *online, struct strbuf *out);
