/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The findings of `kepler doctor` about recordings: whether a directory for them is set, how much
 * of the disk they take, and whether one is being written to.
 */
#pragma once

#include <stdint.h>

#include "config/config.h"
#include "doctor/findings.h"

/* @now_ms: CLOCK_REALTIME. */
void doctor_examine_record(struct findings *findings, const struct config_record *record,
			   uint64_t interval_ns, int64_t now_ms);
