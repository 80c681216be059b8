/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/*
 * Reads an amount of energy with its unit: J, kJ, MJ, Wh or kWh, as in "500J" and "1.5 kWh". 0, or
 * -EINVAL: it has no unit, is not a number above 0, or has further characters. Pure.
 */
int stat_budget_parse(const char *text, double *ret_joules);
