/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that look like virtual machines in a test's own /proc; a resolver that meets them. */
#pragma once

#include <stdint.h>

#include "base/num.h"
#include "workload/identity.h"

#define ID    "3f1c0d52a9e84b7760d1c2f8e5a4b39017c6d8e2f4a1b0935c7e6d8f2a4b1c30"
#define VM    "8a4c1f0e-33b7-4d19-9e5f-7c2b6a1d0e48"
#define VM2   "11112222-3333-4444-8555-666677778888"
#define UID   "5f0c7a3e-1b2d-4c6f-9a8b-0d1e2f3a4b5c"
#define COMM  "qemu-system-x86"
#define SHELL "0::/user.slice/user-0.slice/session-1.scope\n"
#define SCOPE "0::/machine.slice/machine-qemu\\x2d1\\x2dweb.scope/libvirt/emulator\n"
#define WORDS "qemu-system-x86_64|-name|guest=web|-accel|kvm|-uuid|" VM "|"
#define S     NSEC_PER_SEC
#define T0    (1000 * S)

extern struct identity_resolver *resolver; /* from a set-up on */

/* cmocka fixtures. A machine is always known at once, however busy this computer is. */
int machine_setup(void **state);
/* The same with another time to wait for command lines. */
int machine_setup_with(void **state, uint64_t patience_ns);
int machine_teardown(void **state);

/* A process COMM that started 5 s after the boot; words are parted by '|'. */
void machine_start(uint32_t pid, const char *cgroup, const char *words);
/* Whose @process is, asked as an interval does; or the one of that pid that started then. */
const struct identity *machine_resolve(const struct process_ref *process);
const struct identity *machine_at(uint32_t pid, const char *comm, uint64_t cgroup_id);
/* The process COMM belongs to @id. */
void machine_check(uint32_t pid, uint64_t cgroup_id, const char *id);
