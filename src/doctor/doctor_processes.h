/* SPDX-License-Identifier: Apache-2.0 */
/* What doctor says of the processes: how their work is seen, and what of it is not. */
#pragma once

#include "doctor/findings.h"
#include "engine/sources.h"

/* The reader of processes, its signals, and those that the machine itself has. */
void doctor_examine_processes(struct findings *findings, const struct sources *sources);
