// SPDX-License-Identifier: Apache-2.0
/*
 * The source is a tape. While cases are made up, draws come from a generator (xorshift64*, by the
 * case's own seed) and are recorded; while a failure is shrunk, they come from an edited tape, cut
 * to the bound that is asked for, and are 0 beyond its end. So any edit of a tape is a valid case,
 * and the property needs to know nothing of shrinking.
 */
#include "tests/rig/property.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define TAPE_MAX    (1U << 16) /* draws of one case; later ones are 0 */
#define SHRINK_MAX  4000       /* runs spent on making a failure small */
#define SHOWN_DRAWS 64

struct property_source {
	uint64_t state; /* of the generator; never 0 */
	bool replay;
	uint32_t len; /* draws on the tape */
	uint32_t at;  /* the next one, in replay */
	uint64_t *tape;
};

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12; /* xorshift64*: Vigna 2016, An experimental exploration */
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

uint64_t draw_below(struct property_source *source, uint64_t bound)
{
	uint64_t value = 0;

	if (bound == 0)
		return 0;
	if (!source->replay) {
		value = next_random(&source->state) % bound;
		if (source->len < TAPE_MAX)
			source->tape[source->len++] = value;
		else
			value = 0;
	} else if (source->at < source->len) {
		value = source->tape[source->at++];
	}
	return value < bound ? value : bound - 1;
}

uint64_t draw_scaled(struct property_source *source)
{
	uint64_t bits = draw_below(source, 65);

	if (bits == 64)
		return UINT64_MAX - draw_below(source, 1ULL << 63);
	return draw_below(source, 1ULL << bits);
}

bool draw_chance(struct property_source *source, uint64_t one_in)
{
	return draw_below(source, one_in) == one_in - 1;
}

struct shrinker {
	property_fn *property;
	void *userdata;
	struct property_source best; /* the smallest failing tape */
	struct property_source trial;
	const char *said;
	unsigned int runs;
};

/* Runs the trial tape; when it fails too, it is the best one from now on. */
static bool still_fails(struct shrinker *shrinker)
{
	const char *said;

	shrinker->trial.at = 0;
	if (shrinker->runs++ >= SHRINK_MAX)
		return false;
	said = shrinker->property(&shrinker->trial, shrinker->userdata);
	if (!said)
		return false;
	shrinker->said = said;
	shrinker->best.len = shrinker->trial.len;
	memcpy(shrinker->best.tape, shrinker->trial.tape, shrinker->trial.len * sizeof(uint64_t));
	return true;
}

static void start_trial(struct shrinker *shrinker)
{
	shrinker->trial.len = shrinker->best.len;
	memcpy(shrinker->trial.tape, shrinker->best.tape, shrinker->best.len * sizeof(uint64_t));
}

static bool remove_runs(struct shrinker *shrinker, uint32_t run)
{
	bool better = false;

	for (uint32_t at = 0; at + run <= shrinker->best.len;) {
		uint64_t *tape = shrinker->trial.tape;

		start_trial(shrinker);
		memmove(tape + at, tape + at + run,
			(shrinker->trial.len - at - run) * sizeof(uint64_t));
		shrinker->trial.len -= run;
		if (still_fails(shrinker))
			better = true;
		else
			at += run;
	}
	return better;
}

static bool lessen_values(struct shrinker *shrinker)
{
	bool better = false;

	for (uint32_t at = 0; at < shrinker->best.len; at++) {
		uint64_t value = shrinker->best.tape[at];
		const uint64_t tries[] = { 0, value / 2, value - 1 };

		for (unsigned int i = 0; value > 0 && i < 3 && tries[i] < value; i++) {
			start_trial(shrinker);
			shrinker->trial.tape[at] = tries[i];
			if (still_fails(shrinker)) {
				better = true;
				break;
			}
		}
	}
	return better;
}

static void shrink(struct shrinker *shrinker)
{
	bool better = true;

	while (better && shrinker->runs < SHRINK_MAX) {
		better = false;
		for (uint32_t run = shrinker->best.len / 2; run > 0; run /= 2)
			better |= remove_runs(shrinker, run);
		better |= lessen_values(shrinker);
	}
}

static void report(const char *name, uint64_t seed, const struct shrinker *shrinker)
{
	printf("# %s: FALSIFIED, KEPLER_TEST_SEED=%" PRIu64 ": %s\n# smallest draws:", name, seed,
	       shrinker->said);
	for (uint32_t i = 0; i < shrinker->best.len && i < SHOWN_DRAWS; i++)
		printf(" %" PRIu64, shrinker->best.tape[i]);
	printf("%s (%u in all)\n", shrinker->best.len > SHOWN_DRAWS ? " …" : "",
	       shrinker->best.len);
}

static uint64_t choose_seed(void)
{
	const char *given = getenv("KEPLER_TEST_SEED");
	uint64_t seed = 0;

	if (given)
		return strtoull(given, NULL, 10);
	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = 1;
	return seed >> 16; /* short enough to type */
}

bool property_check(const char *name, property_fn *property, void *userdata, uint64_t cases)
{
	uint64_t seed = choose_seed(), mix = seed;
	struct shrinker shrinker = { .property = property, .userdata = userdata };

	shrinker.best = (struct property_source){ .tape = calloc(TAPE_MAX, sizeof(uint64_t)) };
	shrinker.trial = (struct property_source){ .tape = calloc(TAPE_MAX, sizeof(uint64_t)),
						   .replay = true };
	if (!shrinker.best.tape || !shrinker.trial.tape)
		abort();
	for (uint64_t i = 0; i < cases && !shrinker.said; i++) {
		mix += 0x9e3779b97f4a7c15ULL;
		shrinker.best.state = mix ? mix : 1;
		shrinker.best.len = 0;
		(void)next_random(&shrinker.best.state);
		shrinker.said = property(&shrinker.best, userdata);
	}
	if (shrinker.said) {
		shrink(&shrinker);
		report(name, seed, &shrinker);
	} else {
		printf("# %s: %" PRIu64 " cases, seed %" PRIu64 "\n", name, cases, seed);
	}
	free(shrinker.best.tape);
	free(shrinker.trial.tape);
	return !shrinker.said;
}
