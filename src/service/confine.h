/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system calls that are allowed after the start: those that a reading, a scrape, a reload and
 * the shutdown need. There is no execve, no ptrace, no mount and no new process. Some calls are
 * left only to parts that need them (service/needs.h): of bpf() runs, iterators and map operations
 * (so a retry of a failed load means a restart), open_by_handle_at(), and for clients new sockets
 * and the executable memory of the modules that libc loads to look a host's name up.
 *
 * Calls that an intruder would make (execve, ptrace, mount, loading BPF, …) end the process
 * (SIGSYS). Any other call is denied, counted and logged (service/denied_calls.h), or allowed and
 * logged by the kernel, to find out which calls a new libc needs.
 */
#pragma once

#include <stdbool.h>

#include "base/diag.h"
#include "service/needs.h"

/*
 * Can this build be confined? False without libseccomp and with sanitizers, which need calls of
 * their own; @diag then says so.
 */
bool confine_is_supported(struct diag *diag);

/*
 * Confines all threads of the process to the calls that @needs (enum need) require, for good; with
 * @log_only the kernel logs calls that would be denied, and allows them. Sets no_new_privs. Sockets
 * have to be connected before, such as the notify socket. 0, or -EOPNOTSUPP (see
 * confine_is_supported) or another -errno with a diagnosis.
 */
int confine_enter(unsigned needs, bool log_only, struct diag *diag);

/*
 * For the process that reads fdinfo (service/fdinfo_helper.h): any call but its own ends it. As
 * confine_enter().
 */
int confine_fdinfo_helper(struct diag *diag);

/* The filter alone, whatever the build: for tests. */
int confine_apply(unsigned needs, bool log_only, struct diag *diag);
