/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The behaviour of a load: one constant of this type, in a file of its own, for each kind of load.
 * Its function runs in a worker, which is a process that load.c starts and ends.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define LOAD_STAGES 3 /* of a pipeline */

/* The state that the workers of one load share. */
struct load_work {
	_Atomic uint64_t units;     /* of counted work */
	_Atomic uint64_t processes; /* short ones that have ended */
	_Atomic uint64_t taken;     /* short ones that a worker has taken on */
	_Atomic uint64_t stage_cpu_us[LOAD_STAGES];
	uint64_t processes_wanted; /* 0: as many as there is time for */
	uint64_t began_ns;         /* of CLOCK_MONOTONIC */
	double length_s;           /* of the phase */
};

struct load_worker {
	struct load_work *work;
	unsigned replicas; /* of the phase */
	double cpus;       /* that this worker uses: 0 to 1, or all of load_kind.is_one_worker */
};

struct load_kind {
	const char *name;
	const char *unit; /* of the counted work, in the plural */
	/* All of its CPU time is used by its workers, which live as long as the load. */
	bool is_workers_only;
	/* A second of its CPU time takes the power that one of load_steady takes. */
	bool is_arithmetic;
	double duty;      /* the part of the time in which it runs */
	double process_s; /* CPU time of each of its short processes; 0: it starts none */
	unsigned processes;
	const char *stages[LOAD_STAGES]; /* names of its processes; NULL: not a pipeline */
	const char *program;             /* of another package that it needs, or NULL */
	const char *without; /* a sentence for a machine on which this is not installed */
	double units_per_s;  /* of each replica; 0: as many as it can */
	bool is_one_worker;  /* that starts as many processes as there are CPUs to use */
	/* Returns when load_worker_is_over(). */
	void (*run)(const struct load_worker *worker);
};
