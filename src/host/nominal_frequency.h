/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nominal (base) frequency that the name of a processor stands for: Intel's older names state
 * it, AMD's EPYCs are in a table. Pure.
 */
#pragma once

/* GHz of @model, as /proc/cpuinfo has it; 0 unknown. */
double nominal_frequency_ghz(const char *model);
