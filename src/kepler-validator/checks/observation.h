/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that was seen while a plan ran: the truth, the exporters' pages, the kernel's account
 * of CPU time, and of each phase when it was and what its load did.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>

#include "evidence/pages/exporter.h"
#include "judging/result.h"
#include "kepler-validator/checks/check_bounds.h"
#include "kepler-validator/model_exporter.h"
#include "kepler-validator/run_clock.h"
#include "trial/frequency.h"
#include "trial/guest_machine.h"
#include "trial/load.h"
#include "trial/load_command.h"
#include "trial/plan.h"
#include "truth/busy_commands.h"
#include "truth/inventory.h"
#include "truth/truth.h"
#include "truth/vm_process.h"

#define EXPORTERS_MAX 8
#define PHASE_WHY_MAX 192

_Static_assert(PLAN_PHASES_MAX <= LOAD_ACCOUNT_LOADS_MAX, "each phase is a load");

/*
 * The energy that an exporter has charged to all loads so far, by zone. exporter_zone.loads has the
 * processes' energy for each load, whose number is the phase.
 */
struct load_charge {
	double levels[ENERGY_LEVELS][EXPORTER_ZONES_MAX];
	/* The energy that the page holds back, of all rows of a level: it may be the load's. */
	double pending[ENERGY_LEVELS][EXPORTER_ZONES_MAX];
	double page_s; /* the time of the page that says so */
};

struct observed_phase {
	struct phase phase;
	struct load_result load;
	struct load_charge charges[EXPORTERS_MAX]; /* when the phase began */
	struct load_charge settled[EXPORTERS_MAX]; /* after a quarter of it */
	double settled_s;
	char busy[BUSY_TEXT_MAX]; /* other commands with the most CPU time */
	double longer_s;          /* than planned */
	char why[PHASE_WHY_MAX];  /* the last reason for that: a clause */
};

struct observation {
	struct host_cpus cpus;
	struct plan plan;
	const char *sysfs, *procfs;
	struct frequency frequency;
	double step_s, max_lag_s;
	struct run_clock clock; /* of all times here */
	struct truth truth;
	struct truth_inventory inventory;
	struct exporter *exporters[EXPORTERS_MAX];
	struct model_exporter models[EXPORTERS_MAX]; /* pid 0: the exporter is not our own Kepler */
	size_t exporter_count;
	struct series *cpu;    /* of the machine: CPUs that are busy, by the kernel's ticks */
	struct series *tasks;  /* the same, by its scheduler; empty if it has no such account */
	struct vm_process vm;  /* at which a command has its effect; pid 0: none */
	struct series *vm_cpu; /* CPUs that its process uses */
	struct guest_options guest_options;
	struct guest_machine machine; /* of phases with load_guest */
	struct exporter *guest;       /* inside of it; NULL: none */
	const char *command;          /* of phases with load_command or load_gpu_command */
	struct command_load command_load;
	enum load_cgroup_shape load_shape;
	struct load_cgroup cgroup;
	struct own_rows load_rows;
	struct observed_phase phases[PLAN_PHASES_MAX + 1]; /* the last one is the end */
	size_t phase_count;
	/* Before the first phase, or NULL: 0, or -errno with a diagnosis. @look reads all once. */
	int (*begin)(struct observation *observation, int (*look)(struct observation *),
		     const volatile sig_atomic_t *stop, struct diag *diag);
	void (*progress)(const struct observation *observation, double left_s);
	/* At the planned end of a phase, or NULL: why more of it is needed, or false. */
	bool (*needs_more)(struct observation *observation, char why[static PHASE_WHY_MAX]);
	const struct check_bounds *bounds;
	double spare_s; /* by so much all phases together may be longer than planned */
};

/*
 * Runs the plan, until it is over or @stop is set, which ends it with what there is; the load has
 * ended in any case, and what was changed is restored. 0, or -errno with a diagnosis.
 */
int observation_run(struct observation *observation, const volatile sig_atomic_t *stop,
		    struct diag *diag);
void observation_release(struct observation *observation);
