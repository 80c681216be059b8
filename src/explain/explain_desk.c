// SPDX-License-Identifier: Apache-2.0
/*
 * A slot is the server's while it is free or answered, and the loop's while it is taken; which it
 * is changes under the lock, and what is in it is filled and read without. The lock is held for a
 * look at the slots.
 */
#include "explain/explain_desk.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum slot_state {
	SLOT_FREE,
	SLOT_ASKED,
	SLOT_TAKEN,
	SLOT_ANSWERED,
};

struct slot {
	enum slot_state state;
	uint64_t number;      /* in the order in which they came */
	uint64_t asked_ns;    /* when it was last asked about */
	uint64_t answered_ns; /* with SLOT_ANSWERED */
	bool fetched;
	struct explain_answer *answer;
};

struct explain_desk {
	pthread_mutex_t lock;
	unsigned
		asked; /* slots in that state: atomic, so that the loop need not lock to see none */
	uint64_t last_number;
	struct slot slots[EXPLAIN_SLOTS];
};

int explain_desk_new(struct explain_desk **ret)
{
	struct explain_desk *desk = calloc(1, sizeof(*desk));
	int r;

	if (!desk)
		return -ENOMEM;
	r = pthread_mutex_init(&desk->lock, NULL);
	if (r) {
		free(desk);
		return -r;
	}
	*ret = desk;
	return 0;
}

void explain_desk_free(struct explain_desk *desk)
{
	if (!desk)
		return;
	for (size_t i = 0; i < EXPLAIN_SLOTS; i++)
		free(desk->slots[i].answer);
	pthread_mutex_destroy(&desk->lock);
	free(desk);
}

static void set_state(struct explain_desk *desk, struct slot *slot, enum slot_state state)
{
	if (slot->state == SLOT_ASKED)
		__atomic_fetch_sub(&desk->asked, 1, __ATOMIC_RELAXED);
	if (state == SLOT_ASKED)
		__atomic_fetch_add(&desk->asked, 1, __ATOMIC_RELAXED);
	slot->state = state;
}

/* The answer has stood for long enough, or the client does not come back. */
static bool is_over(const struct slot *slot, uint64_t now_ns)
{
	if (slot->state == SLOT_ANSWERED && slot->fetched)
		return now_ns - slot->answered_ns >= EXPLAIN_STANDS_NS;
	return (slot->state == SLOT_ASKED || slot->state == SLOT_ANSWERED) &&
	       now_ns - slot->asked_ns >= EXPLAIN_GONE_NS;
}

static void sweep(struct explain_desk *desk, uint64_t now_ns)
{
	for (size_t i = 0; i < EXPLAIN_SLOTS; i++) {
		struct slot *slot = &desk->slots[i];

		if (!is_over(slot, now_ns))
			continue;
		set_state(desk, slot, SLOT_FREE);
		free(slot->answer);
		slot->answer = NULL;
	}
}

static struct slot *find(struct explain_desk *desk, const char *target)
{
	for (size_t i = 0; i < EXPLAIN_SLOTS; i++) {
		struct slot *slot = &desk->slots[i];

		if (slot->state != SLOT_FREE && strcmp(slot->answer->target, target) == 0)
			return slot;
	}
	return NULL;
}

static int post(struct explain_desk *desk, const char *target, uint64_t now_ns)
{
	for (size_t i = 0; i < EXPLAIN_SLOTS; i++) {
		struct slot *slot = &desk->slots[i];

		if (slot->state != SLOT_FREE)
			continue;
		slot->answer = calloc(1, sizeof(*slot->answer));
		if (!slot->answer)
			return -ENOMEM;
		memcpy(slot->answer->target, target, strlen(target) + 1);
		slot->asked_ns = now_ns;
		slot->number = desk->last_number++;
		slot->fetched = false;
		set_state(desk, slot, SLOT_ASKED);
		return -EAGAIN;
	}
	return -EBUSY;
}

static int ask(struct explain_desk *desk, const char *target, uint64_t now_ns,
	       const struct explain_answer **ret)
{
	struct slot *slot;

	sweep(desk, now_ns);
	slot = find(desk, target);
	if (!slot)
		return post(desk, target, now_ns);
	slot->asked_ns = now_ns;
	if (slot->state != SLOT_ANSWERED)
		return -EAGAIN;
	slot->fetched = true;
	*ret = slot->answer;
	return 0;
}

int explain_desk_ask(struct explain_desk *desk, const char *target, uint64_t now_ns,
		     const struct explain_answer **ret)
{
	int r;

	if (strlen(target) >= EXPLAIN_TARGET_MAX)
		return -ENAMETOOLONG;
	pthread_mutex_lock(&desk->lock);
	r = ask(desk, target, now_ns, ret);
	pthread_mutex_unlock(&desk->lock);
	return r;
}

static struct slot *longest_asked(struct explain_desk *desk)
{
	struct slot *first = NULL;

	for (size_t i = 0; i < EXPLAIN_SLOTS; i++) {
		struct slot *slot = &desk->slots[i];

		if (slot->state == SLOT_ASKED && (!first || slot->number < first->number))
			first = slot;
	}
	return first;
}

size_t explain_desk_take(struct explain_desk *desk, struct explain_answer *ret[EXPLAIN_AT_ONCE])
{
	struct slot *slot;
	size_t count = 0;

	if (!__atomic_load_n(&desk->asked, __ATOMIC_RELAXED))
		return 0;
	pthread_mutex_lock(&desk->lock);
	while (count < EXPLAIN_AT_ONCE && (slot = longest_asked(desk))) {
		set_state(desk, slot, SLOT_TAKEN);
		ret[count++] = slot->answer;
	}
	pthread_mutex_unlock(&desk->lock);
	return count;
}

void explain_desk_give(struct explain_desk *desk, uint64_t now_ns)
{
	pthread_mutex_lock(&desk->lock);
	for (size_t i = 0; i < EXPLAIN_SLOTS; i++) {
		if (desk->slots[i].state != SLOT_TAKEN)
			continue;
		set_state(desk, &desk->slots[i], SLOT_ANSWERED);
		desk->slots[i].answered_ns = now_ns;
	}
	pthread_mutex_unlock(&desk->lock);
}
