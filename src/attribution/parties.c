// SPDX-License-Identifier: Apache-2.0
#include "attribution/parties.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/num.h"

void parties_release(struct parties *parties)
{
	free(parties->party);
	free(parties->cpu_ns);
	free(parties->idle_weight);
	free(parties->parts[MODE_DYNAMIC]);
	free(parties->parts[MODE_IDLE]);
	free(parties->owner);
	for (uint32_t place = 0; place < PLACES_MAX; place++) {
		free(parties->socket_ns[place]);
		free(parties->held[place]);
	}
	for (size_t signal = 0; signal < SIGNAL_COUNT; signal++)
		free(parties->signal[signal]);
	free(parties->container_millicpu);
	free(parties->container_has_party);
	idle_size_scratch_release(&parties->scratch);
	*parties = (struct parties){ 0 };
}

int parties_reserve(struct parties *parties, size_t count)
{
	size_t size = parties->size ? parties->size : 256;

	if (count <= parties->size)
		return 0;
	while (size < count)
		size *= 2;
	if (ARRAY_RESIZE(parties->party, size) < 0 || ARRAY_RESIZE(parties->cpu_ns, size) < 0 ||
	    ARRAY_RESIZE(parties->idle_weight, size) < 0 ||
	    ARRAY_RESIZE(parties->parts[MODE_DYNAMIC], size) < 0 ||
	    ARRAY_RESIZE(parties->parts[MODE_IDLE], size) < 0 ||
	    ARRAY_RESIZE(parties->owner, size) < 0)
		return -ENOMEM;
	for (uint32_t place = 0; place < parties->sockets; place++) {
		if (ARRAY_RESIZE(parties->socket_ns[place], size) < 0)
			return -ENOMEM;
		if ((parties->knows_held || parties->held[place]) &&
		    ARRAY_RESIZE(parties->held[place], size) < 0)
			return -ENOMEM;
	}
	for (size_t signal = 0; signal < SIGNAL_COUNT; signal++) {
		/* One that is not known now may be again: all that there are have one size. */
		if ((parties->signals & SIGNAL_BIT(signal) || parties->signal[signal]) &&
		    ARRAY_RESIZE(parties->signal[signal], size) < 0)
			return -ENOMEM;
	}
	parties->size = size;
	return 0;
}

void parties_begin(struct parties *parties, uint32_t sockets)
{
	sockets = sockets < PLACES_MAX ? sockets : PLACES_MAX;
	parties->count = 0;
	if (sockets > parties->sockets)
		parties->size = 0; /* to be reserved again: more arrays than before */
	parties->sockets = sockets;
	parties->signals = 0;
	parties->knows_held = false;
	memset(parties->socket_sum_ns, 0, sizeof(parties->socket_sum_ns));
}

void parties_know(struct parties *parties, uint32_t signals)
{
	for (size_t signal = 0; signal < SIGNAL_COUNT; signal++) {
		if (signals & SIGNAL_BIT(signal) && !parties->signal[signal])
			parties->size = 0; /* to be reserved again: more arrays than before */
	}
	parties->signals = signals;
	memset(parties->signal_sum, 0, sizeof(parties->signal_sum));
}

void parties_know_held(struct parties *parties)
{
	for (uint32_t place = 0; place < parties->sockets; place++) {
		if (!parties->held[place])
			parties->size = 0; /* to be reserved again */
	}
	parties->knows_held = true;
	memset(parties->held_sum, 0, sizeof(parties->held_sum));
}

void parties_add(struct parties *parties, uint32_t process, uint32_t container, uint64_t cpu_ns,
		 const uint64_t *socket_ns)
{
	size_t i = parties->count++;

	for (uint32_t place = 0; place < parties->sockets; place++) {
		parties->socket_ns[place][i] = socket_ns ? socket_ns[place] : 0;
		parties->socket_sum_ns[place] += parties->socket_ns[place][i];
		if (parties->knows_held)
			parties->held[place][i] = 0;
	}

	for (uint32_t left = parties->signals; left; left &= left - 1)
		parties->signal[__builtin_ctz(left)][i] = 0;
	parties->party[i] = (struct party){ process, container };
	parties->cpu_ns[i] = cpu_ns;
	parties->idle_weight[i] = 0;
}

void parties_add_signal(struct parties *parties, enum signal signal, uint64_t amount)
{
	parties->signal[signal][parties->count - 1] += amount;
	parties->signal_sum[signal] += amount;
}

void parties_add_held(struct parties *parties, const uint64_t *bytes)
{
	for (uint32_t place = 0; place < parties->sockets; place++) {
		parties->held[place][parties->count - 1] += bytes[place];
		parties->held_sum[place] += bytes[place];
	}
}

uint64_t parties_of_socket(const struct parties *parties, uint32_t place, uint64_t amount)
{
	uint64_t sum_ns = 0;

	for (uint32_t other = 0; other < parties->sockets; other++)
		sum_ns += parties->socket_sum_ns[other];
	return sum_ns ? muldiv_u64(amount, parties->socket_sum_ns[place], sum_ns)
		      : amount / parties->sockets;
}

void parties_spread_sockets(struct parties *parties)
{
	for (size_t i = 0; parties->sockets && i < parties->count; i++) {
		uint64_t left_ns = parties->cpu_ns[i], all_ns;

		for (uint32_t place = 0; place < parties->sockets; place++)
			left_ns -= parties->socket_ns[place][i];
		all_ns = left_ns;
		for (uint32_t place = 0; left_ns && place < parties->sockets; place++) {
			uint64_t part_ns = place + 1 < parties->sockets
						   ? parties_of_socket(parties, place, all_ns)
						   : left_ns;

			parties->socket_ns[place][i] += part_ns;
			left_ns -= part_ns;
		}
	}
}

/* Every living row once; those that ran have a party already, which keeps weight 0. */
static int weigh_equally(struct parties *parties, const struct ledger *ledger)
{
	uint32_t slots = ledger_slots(ledger, LEVEL_PROCESS);
	int r = parties_reserve(parties, parties->count + slots);

	if (r < 0)
		return r;
	for (uint32_t row = 0; row < slots; row++) {
		const struct ledger_process *process = ledger_process_at(ledger, row);

		if (!process->row.used || process->row.ended)
			continue;
		parties_add(parties, row, process->container, 0, NULL);
		parties->idle_weight[parties->count - 1] = 1;
	}
	return 0;
}

static int read_sizes(struct parties *parties, const struct ledger *ledger, uint32_t slots)
{
	if (slots > parties->container_size) {
		if (ARRAY_RESIZE(parties->container_millicpu, slots) < 0 ||
		    ARRAY_RESIZE(parties->container_has_party, slots) < 0)
			return -ENOMEM;
		parties->container_size = slots;
	}
	for (uint32_t row = 0; row < slots; row++) {
		const struct ledger_container *container = ledger_container_at(ledger, row);
		bool lives = container->row.used && container->living && !container->replaced;

		parties->container_millicpu[row] = lives ? container->size_millicpu : 0;
		parties->container_has_party[row] = false;
	}
	return 0;
}

/*
 * A container that requested a part of the machine is charged its idle power, even while it sleeps.
 */
static int weigh_by_size(struct parties *parties, const struct ledger *ledger, uint64_t dt_ns)
{
	uint32_t slots = ledger_slots(ledger, LEVEL_CONTAINER);
	struct idle_size_input input;
	int r = parties_reserve(parties, parties->count + slots);

	if (r == 0)
		r = read_sizes(parties, ledger, slots);
	if (r < 0)
		return r;
	for (size_t i = 0; i < parties->count; i++)
		parties->container_has_party[parties->party[i].container] = true;
	for (uint32_t row = 0; row < slots; row++) {
		if (parties->container_millicpu[row] && !parties->container_has_party[row])
			parties_add(parties, LEDGER_NONE, row, 0, NULL);
	}
	for (size_t i = 0; i < parties->count; i++)
		parties->owner[i] = parties->party[i].container;
	input = (struct idle_size_input){
		.dt_ns = dt_ns,
		.count = parties->count,
		.owner = parties->owner,
		.used_ns = parties->cpu_ns,
		.owners = slots,
		.size_millicpu = parties->container_millicpu,
	};
	return idle_size_weights(&input, parties->idle_weight, &parties->scratch);
}

int parties_weigh_idle(struct parties *parties, const struct ledger *ledger, enum idle_share share,
		       uint64_t dt_ns)
{
	if (share == IDLE_SHARE_EQUAL)
		return weigh_equally(parties, ledger);
	if (share == IDLE_SHARE_SIZE)
		return weigh_by_size(parties, ledger, dt_ns);
	if (parties->count)
		memcpy(parties->idle_weight, parties->cpu_ns, parties->count * sizeof(uint64_t));
	return 0;
}

struct domain_work parties_work(const struct parties *parties, size_t first, size_t count)
{
	struct domain_work work = { .input = { .count = count } };

	if (!count)
		return work;
	work.input.dynamic_weights = parties->cpu_ns + first;
	work.input.idle_weights = parties->idle_weight + first;
	work.party = parties->party + first;
	for (enum energy_mode mode = 0; mode < MODE_COUNT; mode++)
		work.parts[mode] = parties->parts[mode] + first;
	return work;
}

struct domain_work parties_work_at(const struct parties *parties, uint32_t place,
				   const struct work_sums *sums, enum idle_share share)
{
	struct domain_work work = parties_work(parties, 0, parties->count);

	work.input.idle_share = share;
	work.input.dropped_weight = sums->dropped_ns;
	work.input.unseen_weight = sums->unseen_ns;
	if (place >= parties->sockets)
		return work;
	/* The sockets are taken to have run nameless work in the same proportions as named. */
	work.input.dynamic_weights = parties->socket_ns[place];
	work.input.dropped_weight = parties_of_socket(parties, place, sums->dropped_ns);
	work.input.unseen_weight = parties_of_socket(parties, place, sums->unseen_ns);
	if (share == IDLE_SHARE_USAGE)
		work.input.idle_weights = work.input.dynamic_weights;
	return work;
}
