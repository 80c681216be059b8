/* SPDX-License-Identifier: Apache-2.0 */
/* Findings on a host: which virtual machines receive their own energy, and why one does not. */
#pragma once

#include "config/config.h"
#include "doctor/findings.h"
#include "snapshot/snapshot.h"

void doctor_examine_vms(struct findings *findings, const struct snapshot *snapshot,
			const struct config *config);
