// SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "oracle.h"
#include "product.h"

#define CLIENTS 3

struct client {
	struct held *held;
	uint64_t checksum;
};

struct run {
	struct world world;
	struct product *product;
	struct oracle *oracle;
	struct picture picture; /* of a snapshot that was held */
	struct client clients[CLIENTS];
	uint64_t refusals;  /* of memory, of all machines before */
	uint64_t missed_ns; /* of the first interval since the last picture that has none */
};

static const char *look_again(struct run *run, struct client *client)
{
	const char *wrong = NULL;

	product_draw(client->held, &run->picture);
	if (picture_checksum(&run->picture) != client->checksum)
		wrong = "a snapshot changed while it was held";
	product_let_go(client->held);
	client->held = NULL;
	return wrong;
}

/* A client that is slow gives a snapshot back, and takes this one. */
static const char *step_clients(struct run *run)
{
	struct world *world = &run->world;
	size_t i = chance_below(&world->clients, CLIENTS * 3);
	const char *wrong = NULL;

	if (i >= CLIENTS || !world_has(world, FEATURE_CLIENTS))
		return NULL;
	if (run->clients[i].held)
		wrong = look_again(run, &run->clients[i]);
	run->clients[i].held = product_hold(run->product);
	product_draw(run->clients[i].held, &run->picture);
	run->clients[i].checksum = picture_checksum(&run->picture);
	return wrong;
}

static const char *check_picture(struct run *run)
{
	struct held *held = product_hold(run->product);
	struct picture *picture = oracle_canvas(run->oracle);
	const char *wrong;

	product_draw(held, picture);
	product_let_go(held);
	if (picture->now_ns != run->world.interval.now_ns)
		return "the newest snapshot is not this interval's";
	wrong = oracle_check(run->oracle, &run->world, run->missed_ns,
			     product_refusals() > run->refusals);
	run->missed_ns = 0;
	return wrong ? wrong : step_clients(run);
}

static const char *one_interval(struct run *run, struct finding *finding)
{
	enum product_result result;
	uint64_t refused = product_refusals();

	world_step(&run->world);
	finding->interval = run->world.interval.number;
	result = product_interval(run->product, &run->world);
	refused = product_refusals() - refused;
	finding->refused += refused;
	if (finding->verbose && (refused || run->world.interval.reload))
		printf("# interval %llu: %llu refused, result %d, settle %llu s, keep %llu s, "
		       "idle %d, share %d\n",
		       (unsigned long long)finding->interval, (unsigned long long)refused,
		       (int)result, (unsigned long long)(run->world.policy.settle_ns / SECOND_NS),
		       (unsigned long long)(run->world.policy.keep_ns / SECOND_NS),
		       (int)run->world.policy.idle, (int)run->world.policy.share);
	if (result == PRODUCT_BROKEN)
		return "a counter was refused, or taken, against its promise";
	if (result != PRODUCT_PUBLISHED && !refused)
		return "an interval failed, and there was memory";
	meters_book(&run->world, product_zones(run->product));
	oracle_see(run->oracle, &run->world);
	if (result == PRODUCT_PUBLISHED) {
		finding->pictures++;
		return check_picture(run);
	}
	if (!run->missed_ns)
		run->missed_ns = run->world.interval.now_ns;
	return NULL;
}

static const char *end_run(struct run *run)
{
	const char *wrong = NULL;

	product_free(run->product); /* before its readers: what they hold stays good */
	for (size_t i = 0; i < CLIENTS; i++) {
		if (run->clients[i].held) {
			const char *changed = look_again(run, &run->clients[i]);

			wrong = changed ? changed : wrong;
		}
	}
	oracle_free(run->oracle);
	picture_release(&run->picture);
	return wrong;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Counts the machine's features; only zones that the program has adopted count. */
static void count_machine(const struct run *run, struct finding *finding)
{
	size_t zones = product_zones(run->product);

	finding->machines++;
	finding->many_zones += zones > WORLD_ZONES_MANY;
	finding->most_zones = larger(finding->most_zones, zones);
	finding->most_sockets = larger(finding->most_sockets, run->world.sockets);
	finding->with_boards += run->world.boards > 0;
	finding->most_boards = larger(finding->most_boards, run->world.boards);
}

static void run_machine(const struct plan *plan, uint64_t seed, uint64_t limit,
			struct finding *finding)
{
	struct run *run = calloc(1, sizeof(*run));
	const char *wrong = NULL, *at_end;

	if (!run)
		abort();
	finding->seed = seed;
	finding->verbose = plan->verbose;
	world_begin(&run->world, seed, plan->features);
	run->product = product_new(&run->world);
	run->refusals = product_refusals();
	run->oracle = oracle_new();
	if (limit > run->world.life)
		limit = run->world.life;
	for (uint64_t i = 0; i < limit && !wrong; i++, finding->done++)
		wrong = one_interval(run, finding);
	if (wrong)
		(void)snprintf(finding->said, sizeof(finding->said), "%s", wrong);
	if (plan->verbose)
		printf("# seed %llu: %llu intervals, %u sockets, %zu zones, %u processes, "
		       "%zu owners\n",
		       (unsigned long long)seed, (unsigned long long)run->world.interval.number,
		       run->world.sockets, run->world.zone_count, run->world.task_count,
		       run->world.owner_count);
	count_machine(run, finding);
	at_end = end_run(run);
	if (at_end && !wrong)
		(void)snprintf(finding->said, sizeof(finding->said), "%s", at_end);
	finding->failed = wrong || at_end;
	free(run);
}

static void run_all(const struct plan *plan, struct finding *finding)
{
	for (uint64_t seed = plan->seed; finding->done < plan->intervals && !finding->failed;
	     seed++)
		run_machine(plan, seed, plan->intervals - finding->done, finding);
}

void run_plan(const struct plan *plan, struct finding *ret)
{
	struct finding *finding = mmap(NULL, sizeof(*finding), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = 0;
	pid_t child;

	if (finding == MAP_FAILED)
		abort();
	(void)fflush(NULL);
	child = fork();
	if (child < 0)
		abort();
	if (child == 0) {
		run_all(plan, finding);
		exit(finding->failed ? EXIT_FAILURE : EXIT_SUCCESS); /* leaks are looked for */
	}
	if (waitpid(child, &status, 0) < 0)
		abort();
	*ret = *finding;
	if (!ret->failed && status) {
		ret->failed = true;
		(void)snprintf(ret->said, sizeof(ret->said),
			       "the run ended with wait status %#x: a crash, or a leak",
			       (unsigned)status);
	}
	(void)munmap(finding, sizeof(*finding));
}
