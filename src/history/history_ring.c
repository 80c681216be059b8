// SPDX-License-Identifier: Apache-2.0
#include "history/history_ring.h"

#include <sys/mman.h>

#include "base/num.h"

void *history_memory_new(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return NULL;
	/* The kernel joins neighbouring mappings, and would give them a page of 2 MB. */
	(void)madvise(memory, size, MADV_NOHUGEPAGE);
	return memory;
}

void history_memory_free(void *memory, size_t size)
{
	if (memory)
		(void)munmap(memory, size);
}

/* The two resolutions. */
static const struct tier {
	uint64_t width_ns;
	uint32_t steps;
} tiers[2] = {
	{ HISTORY_FINE_S * NSEC_PER_SEC, HISTORY_FINE_STEPS },
	{ HISTORY_COARSE_S * NSEC_PER_SEC, HISTORY_COARSE_STEPS },
};

/* The oldest step that is kept while the clock is at @now_ns. */
static uint64_t oldest_step(const struct tier *tier, uint64_t now_ns)
{
	uint64_t now = now_ns / tier->width_ns;

	return now >= tier->steps ? now - tier->steps + 1 : 0;
}

/* The first step that @span adds to. */
static uint64_t first_step(const struct tier *tier, struct history_span span)
{
	uint64_t first = span.from_ns / tier->width_ns, oldest = oldest_step(tier, span.to_ns);

	return first > oldest ? first : oldest;
}

static uint64_t step_end(const struct tier *tier, uint64_t step, struct history_span span)
{
	uint64_t end = (step + 1) * tier->width_ns;

	return end < span.to_ns ? end : span.to_ns;
}

static void add_energy(const struct tier *tier, uint64_t *ring, struct history_span span,
		       uint64_t energy_uj)
{
	uint64_t given = 0, last = (span.to_ns - 1) / tier->width_ns;

	for (uint64_t step = first_step(tier, span); step < last; step++) {
		uint64_t due = muldiv_u64(energy_uj, (step + 1) * tier->width_ns - span.from_ns,
					  span.to_ns - span.from_ns);

		ring[step % tier->steps] += due - given;
		given = due;
	}
	ring[last % tier->steps] += energy_uj - given;
}

void history_energy_add(struct history_energy *ring, struct history_span span, uint64_t energy_uj)
{
	if (!energy_uj)
		return;
	add_energy(&tiers[0], ring->fine_uj, span, energy_uj);
	add_energy(&tiers[1], ring->coarse_uj, span, energy_uj);
	ring->hour_uj += energy_uj;
}

static void add_cover(const struct tier *tier, uint16_t *ring, struct history_span span)
{
	uint64_t last = (span.to_ns - 1) / tier->width_ns,
		 width_ms = tier->width_ns / NSEC_PER_MSEC;

	for (uint64_t step = first_step(tier, span); step <= last; step++) {
		uint64_t begin = step * tier->width_ns, end = step_end(tier, step, span);
		uint64_t from = begin > span.from_ns ? begin : span.from_ns;
		uint64_t ms =
			ring[step % tier->steps] + (end - from + NSEC_PER_MSEC / 2) / NSEC_PER_MSEC;

		ring[step % tier->steps] = (uint16_t)(ms < width_ms ? ms : width_ms);
	}
}

void history_cover_add(struct history_cover *ring, struct history_span span)
{
	add_cover(&tiers[0], ring->fine_ms, span);
	add_cover(&tiers[1], ring->coarse_ms, span);
}

static struct history_steps new_steps(const struct tier *tier, uint64_t before_ns, uint64_t now_ns)
{
	uint64_t first = before_ns / tier->width_ns + 1, oldest = oldest_step(tier, now_ns);

	return (struct history_steps){ first > oldest ? first : oldest,
				       now_ns / tier->width_ns + 1 };
}

struct history_advance history_advance(uint64_t before_ns, uint64_t now_ns)
{
	return (struct history_advance){ new_steps(&tiers[0], before_ns, now_ns),
					 new_steps(&tiers[1], before_ns, now_ns) };
}

void history_energy_advance(struct history_energy *ring, const struct history_advance *advance)
{
	for (uint64_t step = advance->fine.from; step < advance->fine.to; step++) {
		uint64_t *at = &ring->fine_uj[step % HISTORY_FINE_STEPS];

		if (!*at) /* its page may not be there yet */
			continue;
		ring->hour_uj -= *at;
		*at = 0;
	}
	for (uint64_t step = advance->coarse.from; step < advance->coarse.to; step++) {
		if (ring->coarse_uj[step % HISTORY_COARSE_STEPS])
			ring->coarse_uj[step % HISTORY_COARSE_STEPS] = 0;
	}
}

void history_cover_advance(struct history_cover *ring, const struct history_advance *advance)
{
	for (uint64_t step = advance->fine.from; step < advance->fine.to; step++) {
		if (ring->fine_ms[step % HISTORY_FINE_STEPS])
			ring->fine_ms[step % HISTORY_FINE_STEPS] = 0;
	}
	for (uint64_t step = advance->coarse.from; step < advance->coarse.to; step++) {
		if (ring->coarse_ms[step % HISTORY_COARSE_STEPS])
			ring->coarse_ms[step % HISTORY_COARSE_STEPS] = 0;
	}
}

/* Does not write where nothing is added: pages that do not exist yet stay that way. */
static void merge(uint64_t *to, const uint64_t *from, uint32_t steps)
{
	for (uint32_t i = 0; i < steps; i++) {
		if (from[i])
			to[i] += from[i];
	}
}

void history_energy_merge(struct history_energy *to, const struct history_energy *from)
{
	merge(to->fine_uj, from->fine_uj, HISTORY_FINE_STEPS);
	merge(to->coarse_uj, from->coarse_uj, HISTORY_COARSE_STEPS);
	to->hour_uj += from->hour_uj;
}

void history_energy_read(const struct history_energy *ring, const struct history_range *range,
			 bool coarse, uint64_t *ret_uj)
{
	const uint64_t *steps = coarse ? ring->coarse_uj : ring->fine_uj;
	uint32_t size = coarse ? HISTORY_COARSE_STEPS : HISTORY_FINE_STEPS;
	uint64_t each = range->width_s / (coarse ? HISTORY_COARSE_S : HISTORY_FINE_S);
	uint64_t at = range->first * each;

	for (uint32_t i = 0; i < range->count; i++) {
		ret_uj[i] = 0;
		for (uint64_t k = 0; k < each; k++)
			ret_uj[i] += steps[at++ % size];
	}
}

void history_cover_read(const struct history_cover *ring, const struct history_range *range,
			bool coarse, uint32_t *ret_ms)
{
	const uint16_t *steps = coarse ? ring->coarse_ms : ring->fine_ms;
	uint32_t size = coarse ? HISTORY_COARSE_STEPS : HISTORY_FINE_STEPS;
	uint64_t each = range->width_s / (coarse ? HISTORY_COARSE_S : HISTORY_FINE_S);
	uint64_t at = range->first * each;

	for (uint32_t i = 0; i < range->count; i++) {
		ret_ms[i] = 0;
		for (uint64_t k = 0; k < each; k++)
			ret_ms[i] += steps[at++ % size];
	}
}
