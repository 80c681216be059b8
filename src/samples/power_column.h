/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns of samples with the power of a component: the power of "package" is in
 * "package_power". Columns of a single package, such as package_0_package_power, are of no
 * component. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "samples/sample_table.h"

/* The column of a component, cut to SAMPLE_NAME_MAX. */
void power_column(const char *component, char ret[static SAMPLE_NAME_MAX]);
/* The component of a column; false if it is not the power of one. */
bool power_column_component(const char *column, char ret[static SAMPLE_NAME_MAX]);
/* Returns true if the column is the power of a component, and above 0 in some row. */
bool power_column_is_used(const struct sample_table *table, size_t column,
			  char ret_component[static SAMPLE_NAME_MAX]);
