/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which row of the ledger does a person mean? A pid; a container's id, or so much of it that it is
 * no other's; the name of a container, systemd unit, job, pod, virtual machine or namespace; a pod
 * as NAMESPACE/POD. A kind before a colon says which of them: "pid:", "container:", "pod:", "vm:",
 * "namespace:". Where nothing else is called so, the command that a process runs. Pure but for the
 * ledger that it reads.
 */
#pragma once

#include "attribution/ledger.h"
#include "explain/explain_answer.h"

/*
 * Looks for @answer->target: sets what is said of the row, or which rows it may be. Of several
 * processes with a pid the one that lives, else the one that started last. Rows that have ended
 * and are kept count, too, where none that lives is called so.
 */
void explain_find(const struct ledger *ledger, struct explain_answer *answer);
