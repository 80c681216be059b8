/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic in registers: runs all the time, or two seconds on and two seconds off. */
#pragma once

#include "trial/load_kind.h"

extern const struct load_kind load_steady;
extern const struct load_kind load_alternating;

/* About 1 ms of it. */
void load_arithmetic_chunk(void *unused);
