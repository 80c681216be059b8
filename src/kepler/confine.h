/* SPDX-License-Identifier: Apache-2.0 */
/*
 * After the start, which system calls are left? What a reading, a scrape, a reload and the end
 * need, and no more: no execve, no ptrace, no mount, no new socket, no new process, no executable
 * memory, and of bpf() only runs, iterators and map operations. So a retry of a failed BPF load
 * means a restart.
 *
 * Anything else ends the process (SIGSYS), or is logged only, for finding out what a new libc
 * wants.
 */
#pragma once

#include <stdbool.h>

#include "base/diag.h"

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
int confine_enter(bool log_only, struct diag *diag);

/* The filter alone, whatever the build: for tests. */
int confine_apply(bool log_only, struct diag *diag);
