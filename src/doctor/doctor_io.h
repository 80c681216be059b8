/* SPDX-License-Identifier: Apache-2.0 */
/* Findings about signals of input and output, and about time in interrupts. */
#pragma once

#include "activity/activity.h"
#include "doctor/findings.h"

void doctor_examine_io(struct findings *findings, const struct io_info *io);
