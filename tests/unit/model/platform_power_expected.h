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
	  32, 2, 2017, 200, 2.1, 66.7215, 155.0125, 315.6447 },
	{ "AMD EPYC 7443 24-Core Processor", "amd",
	  24, 1, 2021, 100, 2.85, 66.3033, 118.2234, 171.0046 },
	{ "Intel(R) Xeon(R) CPU E5-2640 v3 @ 2.60GHz", "intel",
	  16, 2, 2014, 100, 2.6, 56.6554, 117.0543, 242.3188 },
	{ "Intel(R) Xeon(R) CPU E5-2699 v3 @ 2.30GHz", "intel",
	  30, 2, 2014, 90, 2.3, 55.1810, 131.3544, 283.5755 },
	{ "Intel(R) Xeon(R) E-2134 CPU @ 3.50GHz", "intel",
	  4, 1, 2018, 20, 3.5, 13.6101, 24.1262, 58.9989 },
	{ "AMD EPYC 9654 96-Core Processor", "amd",
	  192, 2, 2022, 700, 2.4, 149.2438, 360.2723, 669.9639 },
	{ "Intel(R) Xeon(R) CPU E7-4830 v2 @ 2.20GHz", "intel",
	  40, 4, 2013, 300, 2.2, 261.6291, 393.6785, 608.1735 },
	{ "AMD EPYC 7B99 48-Core Processor", "amd",
	  96, 2, 2021, 300, 2.5, 137.3196, 262.4107, 433.2529 },
};
/* clang-format on */
