/* SPDX-License-Identifier: Apache-2.0 */
/*
 * After the start, which system calls are left? What a reading, a scrape, a reload and the end
 * need, and no more: no execve, no ptrace, no mount, no new process. Some calls are left only to
 * parts that need them (service/needs.h): of bpf() runs, iterators and map operations (so a retry
 * of a failed load means a restart), open_by_handle_at(), and for clients new sockets and the
 * executable memory of the modules that libc loads to look a host's name up.
 *
 * What an intruder would call (execve, ptrace, mount, to load BPF, …) ends the process (SIGSYS).
 * Anything else is denied, counted and told (service/denied_calls.h), or let pass and logged by the
 * kernel, for finding out what a new libc wants.
 */
#pragma once

#include <stdbool.h>

#include "base/diag.h"
#include "service/needs.h"

/*
 * May this build be confined? False without libseccomp and under sanitizers, whose checks want
 * calls of their own; @diag then says so.
 */
bool confine_is_supported(struct diag *diag);

/*
 * Confines all threads of the process to what @needs (enum need) want, for good; with @log_only
 * the kernel logs what would be denied, and lets it pass. Sets no_new_privs. Connect what must be
 * connected before, the notify socket among it. 0, or -EOPNOTSUPP (see confine_is_supported) or
 * another -errno with a diagnosis.
 */
int confine_enter(unsigned needs, bool log_only, struct diag *diag);

/* The filter alone, whatever the build: for tests. */
int confine_apply(unsigned needs, bool log_only, struct diag *diag);
