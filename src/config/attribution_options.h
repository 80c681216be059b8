/* SPDX-License-Identifier: Apache-2.0 */
/* --idle.…, --gpu.idle and --attribution.…: how energy is shared. */
#pragma once

#include <stddef.h>

#include "options/option_set.h"

/* Sections over struct idle_options and over struct share_options; NULL after the last. */
const struct option_section *idle_options_at(size_t index);
const struct option_section *share_options_at(size_t index);
