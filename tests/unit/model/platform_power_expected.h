/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Written by builtin-models platform: what the model says of made-up machines.
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
	  32, 2, 2017, 200, 2.1, 64.8906, 152.3210, 310.7687 },
	{ "AMD EPYC 7443 24-Core Processor", "amd",
	  24, 1, 2021, 100, 2.85, 69.1910, 116.9685, 165.4262 },
	{ "Intel(R) Xeon(R) CPU E5-2640 v3 @ 2.60GHz", "intel",
	  16, 2, 2014, 100, 2.6, 54.1011, 113.8961, 236.7432 },
	{ "Intel(R) Xeon(R) CPU E5-2699 v3 @ 2.30GHz", "intel",
	  30, 2, 2014, 90, 2.3, 50.2636, 121.2894, 262.4298 },
	{ "Intel(R) Xeon(R) E-2134 CPU @ 3.50GHz", "intel",
	  4, 1, 2018, 20, 3.5, 14.0712, 24.3877, 61.3415 },
	{ "AMD EPYC 9654 96-Core Processor", "amd",
	  192, 2, 2022, 700, 2.4, 154.1012, 352.6164, 641.8136 },
	{ "Intel(R) Xeon(R) CPU E7-4830 v2 @ 2.20GHz", "intel",
	  40, 4, 2013, 300, 2.2, 257.7554, 395.1219, 608.5501 },
	{ "AMD EPYC 7B99 48-Core Processor", "amd",
	  96, 2, 2021, 300, 2.5, 131.8677, 252.6606, 420.7535 },
};
/* clang-format on */
