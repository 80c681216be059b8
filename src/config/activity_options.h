/* SPDX-License-Identifier: Apache-2.0 */
/* --bpf.… and --counters.…: how processes are read. */
#pragma once

#include <stddef.h>

#include "options/option_set.h"

/* Sections over struct activity_options; NULL after the last. */
const struct option_section *activity_options_at(size_t index);
