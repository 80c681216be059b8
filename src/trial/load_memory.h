/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pointer chase through 64 MiB in each worker, in an order that no prefetcher follows. It also
 * writes each cache line. Each worker waits for memory nearly all the time, and all of that is CPU
 * time.
 */
#pragma once

#include "trial/load_kind.h"

extern const struct load_kind load_memory;
