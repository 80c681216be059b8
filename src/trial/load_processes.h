/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that follow each other: 3,000 of 10 ms of CPU time, spread over the phase, or of 1 s,
 * without a pause. They are children of a worker, which waits for each before it starts the next,
 * so that the kernel's account of the worker has theirs as well.
 */
#pragma once

#include "trial/load_kind.h"

extern const struct load_kind load_short_lived;
extern const struct load_kind load_churn;
