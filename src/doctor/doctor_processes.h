/* SPDX-License-Identifier: Apache-2.0 */
/* Findings about processes: how their work is measured, and which part is not visible. */
#pragma once

#include "doctor/findings.h"
#include "engine/sources.h"

/* The reader of processes, its signals, and those that the machine itself has. */
void doctor_examine_processes(struct findings *findings, const struct sources *sources);
