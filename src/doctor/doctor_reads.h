/* SPDX-License-Identifier: Apache-2.0 */
/* Findings about signals from sysfs: frequencies of CPUs, memory traffic. */
#pragma once

#include "doctor/findings.h"
#include "engine/machine_reads.h"

void doctor_examine_reads(struct findings *findings, const struct machine_reads_info *info);
