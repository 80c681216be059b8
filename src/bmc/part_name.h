/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name of a sensor of power: does it say that the sensor is of a part of the machine? Then a
 * "total" in it is the sum of such parts, and not the machine's: TotalGPU_Power, "CPU Total Power".
 * What a service itself says of a sensor's place (PhysicalContext, the entity of a record) decides
 * before its name; the name can only add that it is a part. Pure.
 */
#pragma once

#include <stdbool.h>

/* Returns true if @name contains the word of a part, in either case. */
bool part_name_is_of_a_part(const char *name);
