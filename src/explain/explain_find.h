/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which row of the ledger does a person mean? A pid; a container's id, or a unique beginning of it;
 * the name of a container, systemd unit, job, pod, virtual machine or namespace; a pod as
 * NAMESPACE/POD. A kind before a colon selects one of them: "pid:", "container:", "pod:", "vm:",
 * "namespace:". If nothing has that name, it is the command that a process runs. Pure except for
 * the ledger that it reads.
 */
#pragma once

#include "attribution/ledger.h"
#include "explain/explain_answer.h"

/*
 * Looks for @answer->target: sets the description of the row, or the rows that it may be. Of
 * several processes with a pid it takes the living one, else the one that started last. Ended rows
 * that are kept count if no living row has that name.
 */
void explain_find(const struct ledger *ledger, struct explain_answer *answer);
