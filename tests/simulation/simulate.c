// SPDX-License-Identifier: Apache-2.0
/*
 * simulate [--seed N] [--intervals M] [--without FEATURE,...] [--verbose]
 *
 * Runs simulated machines from one seed through the program's arithmetic and publication, and looks
 * after each interval whether all that is promised holds. The machine with the seed N is followed
 * by that with N + 1, until M intervals are done. On a failure the machine is run again without one
 * feature after the other, and the smallest command that still fails is printed.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "run.h"
#include "world.h"

static uint32_t parse_features(const char *list)
{
	char *copy = strdup(list), *rest = copy, *name;
	uint32_t features = 0;

	while (copy && (name = strsep(&rest, ","))) {
		enum feature feature = 0;

		while (feature < FEATURE_COUNT && strcmp(feature_name(feature), name) != 0)
			feature++;
		if (feature == FEATURE_COUNT) {
			(void)fprintf(stderr, "simulate: no feature \"%s\"\n", name);
			exit(2);
		}
		features |= 1U << feature;
	}
	free(copy);
	return features;
}

static void print_command(const struct plan *plan, const struct finding *finding)
{
	const char *before = " --without ";

	printf("# smallest: simulate --seed %" PRIu64 " --intervals %" PRIu64, finding->seed,
	       finding->interval);
	for (enum feature feature = 0; feature < FEATURE_COUNT; feature++) {
		if (plan->features & 1U << feature)
			continue;
		printf("%s%s", before, feature_name(feature));
		before = ",";
	}
	printf("\n# it says: %s\n", finding->said);
}

/* The machine that failed, without one feature after the other; it may fail sooner, too. */
static void shrink(const struct plan *plan, const struct finding *found)
{
	struct plan smallest = { .seed = found->seed,
				 .intervals = found->interval,
				 .features = plan->features };
	struct finding best = *found;
	bool better = true;

	while (better) {
		better = false;
		for (enum feature feature = 0; feature < FEATURE_COUNT; feature++) {
			struct plan trial = smallest;
			struct finding finding;

			trial.features &= ~(1U << feature);
			if (trial.features == smallest.features)
				continue;
			run_plan(&trial, &finding);
			if (!finding.failed || finding.seed != smallest.seed)
				continue;
			best = finding;
			smallest = trial;
			smallest.intervals = finding.interval;
			better = true;
		}
	}
	print_command(&smallest, &best);
}

static uint64_t parse_number(const char *text)
{
	char *end;
	uint64_t number = strtoull(text, &end, 10);

	if (*end || end == text) {
		(void)fprintf(stderr, "simulate: \"%s\" is no number\n", text);
		exit(2);
	}
	return number;
}

static void parse_options(int argc, char **argv, struct plan *plan)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "intervals", required_argument, NULL, 'i' },
		{ "without", required_argument, NULL, 'w' },
		{ "verbose", no_argument, NULL, 'v' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 's')
			plan->seed = parse_number(optarg);
		else if (option == 'i')
			plan->intervals = parse_number(optarg);
		else if (option == 'w')
			plan->features &= ~parse_features(optarg);
		else if (option == 'v')
			plan->verbose = true;
		else
			exit(2);
	}
}

static double seconds_now(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	struct plan plan = { .intervals = 1000, .features = FEATURES_ALL };
	struct finding finding;
	double begun = seconds_now();

	if (getrandom(&plan.seed, sizeof(plan.seed), 0) != sizeof(plan.seed))
		plan.seed = 1;
	plan.seed >>= 32; /* short enough to type */
	parse_options(argc, argv, &plan);
	printf("# simulate --seed %" PRIu64 " --intervals %" PRIu64 "\n", plan.seed,
	       plan.intervals);
	run_plan(&plan, &finding);
	printf("# %" PRIu64 " intervals, %" PRIu64 " pictures, %" PRIu64
	       " refused requests for memory, %.1f s\n",
	       finding.done, finding.pictures, finding.refused, seconds_now() - begun);
	printf("# %" PRIu64 " machines, of up to %" PRIu64 " sockets and %" PRIu64
	       " zones; %" PRIu64 " with more than %d zones, %" PRIu64
	       " with GPUs, of up to %" PRIu64 "\n",
	       finding.machines, finding.most_sockets, finding.most_zones, finding.many_zones,
	       WORLD_ZONES_MANY, finding.with_boards, finding.most_boards);
	if (!finding.failed)
		return EXIT_SUCCESS;
	printf("# FAILED: seed %" PRIu64 ", interval %" PRIu64 ": %s\n", finding.seed,
	       finding.interval, finding.said);
	shrink(&plan, &finding);
	return EXIT_FAILURE;
}
