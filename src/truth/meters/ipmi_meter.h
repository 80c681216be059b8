/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The power of the whole machine, as its management controller reports it through the kernel's
 * driver /dev/ipmi0 (linux/ipmi.h). A controller is asked at most once a second, and has 1.8 s to
 * answer.
 */
#pragma once

#include "truth/truth_meters.h"

void truth_search_ipmi(const char *devices, struct truth *truth);
