// SPDX-License-Identifier: Apache-2.0
/*
 * Rows of a fleet whose power is known: fleet-rows ROWS NODES SEED [truth] writes CSV to standard
 * output. Each node draws 6 % (standard deviation) more or less than the others, and each row has 2
 * W of noise; with "truth" there is neither. fleet.py feeds them to kepler-model.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "training/random.h"

#define LINE_MAX_BYTES 160
#define CORES          32

static double noise(struct random *random)
{
	double sum = -6;

	for (unsigned i = 0; i < 12; i++)
		sum += random_part(random);
	return sum; /* a standard deviation of 1 */
}

static char *add_number(char *at, uint64_t value)
{
	char digits[24];
	size_t len = 0;

	do {
		digits[len++] = (char)('0' + value % 10);
		value /= 10;
	} while (value > 0);
	while (len > 0)
		*at++ = digits[--len];
	return at;
}

/* W at a load of 0 … 1, with frequency in GHz, and misses by the second. */
static double power_w(double load, double ghz, double misses)
{
	return 60 + 40 * load * ghz + 8 * load * ghz * ghz * ghz + 40e-9 * misses;
}

static char *add_row(char *at, struct random *random, uint64_t node, double factor, bool is_truth)
{
	double load = random_part(random), ghz = 1.2 + 0.4 * (double)random_below(random, 5);
	double cycles = load * CORES * ghz * 1e9;
	double instructions = cycles * (0.5 + 1.5 * random_part(random));
	double misses = instructions * 0.01 * random_part(random);
	double power = power_w(load, ghz, misses) * factor + (is_truth ? 0 : 2 * noise(random));
	uint64_t mw = (uint64_t)(power > 0 ? power * 1000 : 0);

	at = add_number(at, node);
	*at++ = ',';
	at = add_number(at, (uint64_t)(load * CORES * 1000));
	*at++ = ',';
	at = add_number(at, (uint64_t)cycles);
	*at++ = ',';
	at = add_number(at, (uint64_t)instructions);
	*at++ = ',';
	at = add_number(at, (uint64_t)misses);
	*at++ = ',';
	at = add_number(at, mw / 1000);
	*at++ = '.';
	*at++ = (char)('0' + mw / 100 % 10);
	*at++ = (char)('0' + mw / 10 % 10);
	*at++ = '\n';
	return at;
}

int main(int argc, char **argv)
{
	static char buffer[1U << 20];
	char *at = buffer;
	struct random random;
	uint64_t rows, nodes, last = UINT64_MAX;
	bool is_truth = argc > 4;
	double factor = 1;

	if (argc < 4) {
		(void)fputs("usage: fleet-rows ROWS NODES SEED [truth]\n", stderr);
		return 2;
	}
	rows = strtoull(argv[1], NULL, 10);
	nodes = strtoull(argv[2], NULL, 10);
	random.state = strtoull(argv[3], NULL, 10);
	(void)puts("node,bpf_cpu_time_ms,cpu_cycles,cpu_instructions,cache_miss,package_power");
	for (uint64_t row = 0; row < rows; row++) {
		uint64_t node = (uint64_t)((unsigned __int128)row * nodes / rows);

		if (node != last)
			factor = is_truth ? 1 : 1 + 0.06 * noise(&random);
		last = node;
		at = add_row(at, &random, node, factor, is_truth);
		if (at - buffer > (ptrdiff_t)(sizeof(buffer) - LINE_MAX_BYTES) || row + 1 == rows) {
			if (fwrite(buffer, 1, (size_t)(at - buffer), stdout) !=
			    (size_t)(at - buffer))
				return 1;
			at = buffer;
		}
	}
	return fflush(stdout) != 0;
}
