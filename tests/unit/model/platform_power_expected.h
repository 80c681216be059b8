/* SPDX-License-Identifier: Apache-2.0 */
/* Written by tools/fit-platform-power.py: what the model says of made-up machines. */
#pragma once

/* clang-format off */
static const struct {
	const char *cpu, *vendor;
	unsigned cores, sockets, year;
	double memory_gib, frequency_ghz;
	double idle_w, third_w, full_w;
} expected_power[] = {
	{ "Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz", "intel",
	  32, 2, 2017, 200, 2.1, 69.3231, 159.9660, 353.9299 },
	{ "AMD EPYC 7443 24-Core Processor", "amd",
	  24, 1, 2021, 100, 2.85, 61.2288, 106.8934, 168.3550 },
	{ "Intel(R) Xeon(R) CPU E5-2640 v3 @ 2.60GHz", "intel",
	  16, 2, 2014, 100, 2.6, 60.5268, 122.1092, 239.7511 },
	{ "Intel(R) Xeon(R) CPU E5-2699 v3 @ 2.30GHz", "intel",
	  30, 2, 2014, 90, 2.3, 57.9660, 135.1093, 305.0444 },
	{ "Intel(R) Xeon(R) E-2134 CPU @ 3.50GHz", "intel",
	  4, 1, 2018, 20, 3.5, 14.7542, 25.5302, 61.9900 },
	{ "AMD EPYC 9654 96-Core Processor", "amd",
	  192, 2, 2022, 700, 2.4, 154.8503, 374.7887, 742.7337 },
	{ "Intel(R) Xeon(R) CPU E7-4830 v2 @ 2.20GHz", "intel",
	  40, 4, 2013, 300, 2.2, 275.7320, 405.5756, 653.4856 },
	{ "AMD EPYC 7B99 48-Core Processor", "amd",
	  96, 2, 2021, 300, 2.5, 129.6908, 254.4181, 446.4782 },
};
/* clang-format on */
