/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parties among which the energy of an interval is split. A party is a process row of the
 * ledger or, for work that is known by its cgroup only, a container, with its run time and its
 * weight for shared idle energy. Arrays are kept between intervals and grow when there are more
 * parties than ever before.
 */
#pragma once

#include "attribution/attribute.h"
#include "attribution/learning/idle_size.h"
#include "attribution/ledger.h"
#include "energy/signal.h"
#include "energy/work.h"

struct party {
	uint32_t process; /* ledger row, or LEDGER_NONE: charge the container */
	uint32_t container;
};

/* Parallel arrays, one entry a party. */
struct parties {
	struct party *party;
	uint64_t *cpu_ns;
	uint64_t *socket_ns[PLACES_MAX]; /* of cpu_ns, by place; [0..sockets) */
	uint64_t socket_sum_ns[PLACES_MAX];
	uint32_t sockets;               /* that are distinguished; 0: none */
	uint64_t *signal[SIGNAL_COUNT]; /* of those that are in @signals */
	uint64_t signal_sum[SIGNAL_COUNT];
	/* SIGNAL_RESIDENT by place, if that is known, for each party and in total. */
	uint64_t *held[PLACES_MAX];
	uint64_t held_sum[PLACES_MAX];
	bool knows_held;
	uint32_t signals; /* SIGNAL_BIT()s that are known in this interval */
	uint64_t *idle_weight;
	uint64_t *parts[MODE_COUNT]; /* room for the splitting */
	uint32_t *owner;             /* container, for weights by size */
	size_t count;
	size_t size;
	uint32_t *container_millicpu; /* [container_size], for the same */
	bool *container_has_party;    /* [container_size], for the same */
	size_t container_size;
	struct idle_size_scratch scratch;
};

/* The work that energy of one domain (a socket, a device, all CPUs) is shared by. */
struct domain_work {
	struct attribution_input input; /* the weights; the caller adds the energies */
	const struct party *party;      /* [input.count] */
	uint64_t *parts[MODE_COUNT];    /* [input.count], room for the split */
};

/* Room for @count in all. 0 or -ENOMEM. */
int parties_reserve(struct parties *parties, size_t count);
/* A new interval in which @sockets places are distinguished; at most PLACES_MAX. */
void parties_begin(struct parties *parties, uint32_t sockets);
/*
 * Each party has an amount of these signals. To be called after parties_begin() and before
 * parties_reserve().
 */
void parties_know(struct parties *parties, uint32_t signals);
/*
 * The memory that each party holds is known by place, too. To be called after parties_begin() and
 * before parties_reserve().
 */
void parties_know_held(struct parties *parties);
/* There must be room. @socket_ns [sockets] may be NULL: not known. */
void parties_add(struct parties *parties, uint32_t process, uint32_t container, uint64_t cpu_ns,
		 const uint64_t *socket_ns);
/*
 * Sets an amount of the party that was added last: 0 until this is called. @signal is a known one.
 */
void parties_add_signal(struct parties *parties, enum signal signal, uint64_t amount);
/*
 * Sets the memory that the party added last holds at each place, [sockets], after
 * parties_know_held(): 0 until this is called.
 */
void parties_add_held(struct parties *parties, const uint64_t *bytes);
/*
 * Spreads run time with an unknown socket over all sockets in proportion to the known run time. To
 * be called when all work has been added, and before socket_ns is read: then it sums to each
 * party's cpu_ns.
 */
void parties_spread_sockets(struct parties *parties);
/*
 * The part of @amount that belongs to the socket at @place, in proportion to its part of all work.
 */
uint64_t parties_of_socket(const struct parties *parties, uint32_t place, uint64_t amount);
/*
 * Sets idle_weight for @share over the @dt_ns of the interval. Equal shares and shares by size add
 * parties that did not run: living processes, containers of known size. 0 or -errno.
 */
int parties_weigh_idle(struct parties *parties, const struct ledger *ledger, enum idle_share share,
		       uint64_t dt_ns);
/*
 * The work of @count parties from @first on, by CPU time, with the idle weights as they are and
 * without nameless work.
 */
struct domain_work parties_work(const struct parties *parties, size_t first, size_t count);
/* The same of all parties in the socket at @place; beyond @sockets: in all of them. */
struct domain_work parties_work_at(const struct parties *parties, uint32_t place,
				   const struct work_sums *sums, enum idle_share share);
void parties_release(struct parties *parties);
