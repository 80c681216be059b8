/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to train that wait, run and have ended: the offline trainer's. One runs at a time, as a
 * worker (worker.h); a few wait; more are refused. From its submission on a request has one
 * deadline for all of it.
 *
 * The server's thread submits and takes; the main thread calls trainings_turn() several times a
 * second, which starts, watches and ends workers. Times are CLOCK_MONOTONIC.
 */
#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/diag.h"
#include "base/strbuf.h"
#include "trainers/folder.h"
#include "trainers/worker.h"

#define TRAININGS_MAX        16
#define TRAININGS_ANSWER     (80U << 20)   /* bytes of an answer */
#define TRAININGS_LOST_NS    5000000000ULL /* a request not asked about so long is dropped */
#define TRAININGS_TURN_MS    100
#define TRAININGS_MODELS_MAX 1024 /* bytes of the path of models */

enum training_state { TRAINING_FREE, TRAINING_WAITS, TRAINING_RUNS, TRAINING_DONE };

struct training {
	enum training_state state;
	uint64_t ticket;
	int in_fd, out_fd, err_fd;
	pid_t pid;
	uint64_t submitted_ns, started_ns, asked_ns;
	char folder[FOLDER_PATH_MAX];
	bool is_late; /* it was ended at its deadline */
	/* ---- of one that is done ---- */
	int http_status;
	char *answer; /* owned: the archive, or a line of text */
	size_t answer_len;
};

struct trainings_limits {
	size_t waiting; /* requests, without the one that runs */
	uint64_t deadline_ns;
	const char *models; /* models of total power, for requests with TrainIsolator; "": none */
	struct worker_limits worker;
};

struct trainings {
	pthread_mutex_t lock;
	struct trainings_limits limits;
	struct training slots[TRAININGS_MAX];
	uint64_t last_ticket;
	uint64_t finished, refused_requests, failed, too_many, lost;
	double seconds; /* run time of workers */
};

void trainings_init(struct trainings *trainings, const struct trainings_limits *limits);
/* Ends workers and frees all. */
void trainings_release(struct trainings *trainings);
/* Copies @body: a ticket; 0: the queue is full, or with a diagnosis there is no memory. */
uint64_t trainings_submit(struct trainings *trainings, const void *body, size_t len,
			  uint64_t now_ns, struct diag *diag);
/*
 * Takes the result of a request: its HTTP status with the answer, which is given; 0: it is not
 * done. 503 for a ticket that is unknown.
 */
int trainings_take(struct trainings *trainings, uint64_t ticket, uint64_t now_ns, char **ret,
		   size_t *ret_len);
void trainings_turn(struct trainings *trainings, uint64_t now_ns);
void trainings_print_metrics(struct trainings *trainings, struct strbuf *out);
