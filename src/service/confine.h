/* SPDX-License-Identifier: Apache-2.0 */
/*
 * After the start, which system calls are left? What a reading, a scrape, a reload and the end
 * need, and no more: no execve, no ptrace, no mount, no new process, no new socket and no
 * executable memory (but for clients), and of bpf() only runs, iterators and map operations. So a
 * retry of a failed BPF load means a restart.
 *
 * What an intruder would call (execve, ptrace, mount, to load BPF, …) ends the process (SIGSYS).
 * Anything else is denied, counted and told (service/denied_calls.h), or let pass and logged by the
 * kernel, for finding out what a new libc wants.
 */
#pragma once

#include <stdbool.h>

#include "base/diag.h"

enum confine_flag {
	CONFINE_LOG_ONLY = 1 << 0,
	/*
	 * Threads connect to others: new sockets, and the modules that libc loads to look a host's
	 * name up.
	 */
	CONFINE_CLIENTS = 1 << 1,
};

/*
 * May this build be confined? False without libseccomp and under sanitizers, whose checks want
 * calls of their own; @diag then says so.
 */
bool confine_is_supported(struct diag *diag);

/*
 * Confines all threads of the process, for good. Sets no_new_privs. Connect what must be connected
 * before, the notify socket among it. 0, or -EOPNOTSUPP (see confine_is_supported) or another
 * -errno with a diagnosis.
 */
int confine_enter(unsigned flags, struct diag *diag);

/* The filter alone, whatever the build: for tests. */
int confine_apply(unsigned flags, struct diag *diag);
