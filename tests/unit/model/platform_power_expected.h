/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Written by kepler-model train-builtin platform: what the model says of made-up machines.
 */
#pragma once

/* clang-format off */
static const struct {
	const char *cpu, *vendor;
	unsigned cores, sockets, year;
	double memory_gib, frequency_ghz;
	double idle_w, third_w, full_w;
} expected_power[] = {
	{ "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz", "intel",
	  32, 2, 2017, 200, 2.1, 66.7115, 156.4056, 345.4899 },
	{ "AMD EPYC 7443 24-Core Processor", "amd",
	  24, 1, 2021, 100, 2.85, 66.3538, 118.2436, 180.9819 },
	{ "Intel(R) Xeon(R) CPU E5-2640 v3 @ 2.60GHz", "intel",
	  16, 2, 2014, 100, 2.6, 56.8147, 116.9590, 247.4191 },
	{ "Intel(R) Xeon(R) CPU E5-2699 v3 @ 2.30GHz", "intel",
	  30, 2, 2014, 90, 2.3, 55.1649, 132.0160, 294.8588 },
	{ "Intel(R) Xeon(R) E-2134 CPU @ 3.50GHz", "intel",
	  4, 1, 2018, 20, 3.5, 13.5982, 24.2932, 58.9209 },
	{ "AMD EPYC 9654 96-Core Processor", "amd",
	  192, 2, 2022, 700, 2.4, 149.2585, 361.9264, 708.7300 },
	{ "Intel(R) Xeon(R) CPU E7-4830 v2 @ 2.20GHz", "intel",
	  40, 4, 2013, 300, 2.2, 261.6253, 394.0163, 645.6877 },
	{ "AMD EPYC 7B99 48-Core Processor", "amd",
	  96, 2, 2021, 300, 2.5, 137.6533, 263.3883, 447.1197 },
};
/* clang-format on */
