/* SPDX-License-Identifier: Apache-2.0 */
/* What doctor says of signals of input and output, and of time in interrupts. */
#pragma once

#include "activity/activity.h"
#include "doctor/findings.h"

void doctor_examine_io(struct findings *findings, const struct io_info *io);
