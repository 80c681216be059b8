/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The privileges of the program, before and after its start; needs.h says what its parts need.
 *
 *   load and attach BPF programs    CAP_BPF + CAP_PERFMON; before 5.11 also LimitMEMLOCK=infinity
 *   run them, read maps, iterators  nothing from 5.19 on; before, CAP_BPF where
 *                                   unprivileged_bpf_disabled is set
 *   open energy_uj (0400 root)      CAP_DAC_READ_SEARCH, unless root
 *   open a cgroup by its id         CAP_DAC_READ_SEARCH (open_by_handle_at)
 *
 * CAP_PERFMON is never needed after the start: nothing is loaded then.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "service/needs.h"

/* The way in which this program was started decides how it can be granted a privilege. */
enum program_runner {
	RUN_BY_PERSON, /* from a shell */
	RUN_BY_SYSTEMD,
	RUN_IN_CONTAINER,
	PROGRAM_RUNNERS
};

/*
 * The privileges of the process, as facts: privileges_read() asks the kernel, a test invents them.
 */
struct privilege_state {
	enum program_runner runner;
	bool root; /* effective uid 0 */
	bool cap_bpf, cap_perfmon, cap_dac_read_search, cap_dac_override, cap_sys_resource;
	bool cap_sys_admin;      /* implies BPF and PERFMON */
	bool memlock_is_charged; /* kernel before 5.11 */
	bool memlock_unlimited;
};

/* Static texts, each a full sentence without the full stop. */
struct privilege_gap {
	const char *missing;     /* "CAP_BPF" */
	const char *consequence; /* what does not work without */
	const char *remedy;      /* what grants it, for the state's runner */
};

#define PRIVILEGE_GAPS_MAX 4

void privileges_read(struct privilege_state *ret);
/* By the environment: a service manager and container runtimes leave marks there. */
enum program_runner privileges_runner(void);
/* Pure: what of @needs (enum need) @state does not grant. The number of gaps. */
size_t privileges_missing(const struct privilege_state *state, unsigned needs,
			  struct privilege_gap gaps[PRIVILEGE_GAPS_MAX]);
/*
 * Why this process was denied @need: the gap, or, if there is none (missing is NULL), other
 * possible causes. Static texts.
 */
struct privilege_gap privileges_denied(enum need need);
/* As privileges_missing() for this process now. */
size_t privileges_check(unsigned needs, struct privilege_gap gaps[PRIVILEGE_GAPS_MAX]);

/*
 * Gives up for good all capabilities except those that @needs keep after the start: effective and
 * permitted hold exactly that, inheritable and ambient nothing, the bounding set that too where
 * CAP_SETPCAP allows it (systemd's CapabilityBoundingSet= does it otherwise). Sets no_new_privs,
 * and forbids core files and tracing by others of the same user.
 *
 * Works on the calling thread, from which later threads inherit: call it before any are started. 0,
 * or -errno with a diagnosis when the process still holds more.
 */
int privileges_drop(unsigned needs, struct diag *diag);
/* The same, but for these capabilities (bits of linux/capability.h), as far as they are held. */
int privileges_keep(uint64_t capabilities, struct diag *diag);

/*
 * Calls @call on a thread that holds no capability and can gain none; the same is true for threads
 * that it starts. Code that talks to a network needs none. Returns when @call has; 0, or -errno
 * when no thread can be created.
 */
int privileges_call_without(void (*call)(void *), void *userdata);
/* Gives up all capabilities of the calling thread: struct offload_options, start_thread. */
void privileges_drop_thread(void);
