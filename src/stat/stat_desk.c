// SPDX-License-Identifier: Apache-2.0
/*
 * Everything is under one lock, which is held for a look at the slots, and by the loop while it
 * writes the pages of the few clients that wait for one.
 */
#include "stat/stat_desk.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"
#include "rates/rates.h"
#include "stat/tree_page.h"

enum slot_state {
	SLOT_FREE,
	SLOT_BEGINS,
	SLOT_RUNS,
	SLOT_ASKED,    /* for a reading */
	SLOT_TAKEN,    /* by the interval that runs */
	SLOT_ANSWERED, /* the page is there */
};

struct slot {
	enum slot_state state;
	bool is_over;
	struct stat_client client;
	int tree;
	struct strbuf page;
};

struct stat_desk {
	pthread_mutex_t lock;
	int wake_fd;
	bool is_refused;
	unsigned used; /* atomic, so that the loop need not lock to see none */
	struct process_trees *trees;
	struct slot slots[STAT_CLIENTS_MAX];
};

int stat_desk_new(struct stat_desk **ret)
{
	struct stat_desk *desk = calloc(1, sizeof(*desk));
	int r;

	if (!desk)
		return -ENOMEM;
	(void)pthread_mutex_init(&desk->lock, NULL); /* cannot fail on Linux */
	desk->wake_fd = -1;
	r = process_trees_new(&desk->trees);
	if (r < 0) {
		stat_desk_free(desk);
		return r;
	}
	*ret = desk;
	return 0;
}

void stat_desk_open(struct stat_desk *desk)
{
	__atomic_store_n(&desk->wake_fd, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), __ATOMIC_RELEASE);
}

static void free_slot(struct stat_desk *desk, struct slot *slot)
{
	strbuf_release(&slot->page);
	*slot = (struct slot){ .state = SLOT_FREE };
	__atomic_fetch_sub(&desk->used, 1, __ATOMIC_RELAXED);
}

void stat_desk_free(struct stat_desk *desk)
{
	if (!desk)
		return;
	for (size_t i = 0; i < STAT_CLIENTS_MAX; i++)
		strbuf_release(&desk->slots[i].page);
	process_trees_free(desk->trees);
	if (desk->wake_fd >= 0)
		(void)close(desk->wake_fd);
	(void)pthread_mutex_destroy(&desk->lock);
	free(desk);
}

static void wake(const struct stat_desk *desk)
{
	int fd = __atomic_load_n(&desk->wake_fd, __ATOMIC_ACQUIRE);
	uint64_t one = 1;

	/* A full counter wakes as well; without a descriptor the next interval does. */
	if (fd >= 0)
		(void)!write(fd, &one, sizeof(one));
}

static struct slot *find(struct stat_desk *desk, const struct stat_client *client)
{
	for (size_t i = 0; i < STAT_CLIENTS_MAX; i++) {
		struct slot *slot = &desk->slots[i];

		if (slot->state != SLOT_FREE && slot->client.uid == client->uid &&
		    slot->client.process.pid == client->process.pid &&
		    slot->client.process.start_ns == client->process.start_ns)
			return slot;
	}
	return NULL;
}

static struct slot *find_room(struct stat_desk *desk, const struct stat_client *client)
{
	struct slot *room = NULL;
	unsigned of_user = 0, of_users = 0;

	for (size_t i = 0; i < STAT_CLIENTS_MAX; i++) {
		struct slot *slot = &desk->slots[i];

		if (slot->state == SLOT_FREE) {
			room = slot;
			continue;
		}
		of_user += slot->client.uid == client->uid;
		of_users += !slot->client.is_trusted;
	}
	return client->is_trusted ||
			       (of_user < STAT_CLIENTS_OF_USER && of_users < STAT_CLIENTS_OF_USERS)
		       ? room
		       : NULL;
}

static int begin(struct stat_desk *desk, const struct stat_client *client)
{
	struct slot *slot = find(desk, client);

	if (slot)
		return slot->state == SLOT_BEGINS || slot->is_over ? -EAGAIN : 0;
	if (desk->is_refused)
		return -EOPNOTSUPP;
	slot = find_room(desk, client);
	if (!slot)
		return -ENOSPC;
	*slot = (struct slot){ .state = SLOT_BEGINS, .client = *client };
	__atomic_fetch_add(&desk->used, 1, __ATOMIC_RELAXED);
	return -EAGAIN;
}

int stat_desk_begin(struct stat_desk *desk, const struct stat_client *client)
{
	int r;

	pthread_mutex_lock(&desk->lock);
	r = begin(desk, client);
	pthread_mutex_unlock(&desk->lock);
	if (r == -EAGAIN)
		wake(desk);
	return r;
}

static int read_page(struct slot *slot, struct strbuf *ret)
{
	if (!slot || slot->is_over)
		return -ENOENT;
	if (slot->state == SLOT_RUNS)
		slot->state = SLOT_ASKED;
	if (slot->state != SLOT_ANSWERED)
		return -EAGAIN;
	slot->state = SLOT_RUNS;
	strbuf_add(ret, slot->page.data ? slot->page.data : "", slot->page.len);
	return slot->page.failed ? -ENOMEM : strbuf_error(ret);
}

int stat_desk_read(struct stat_desk *desk, const struct stat_client *client, struct strbuf *ret)
{
	int r;

	pthread_mutex_lock(&desk->lock);
	r = read_page(find(desk, client), ret);
	pthread_mutex_unlock(&desk->lock);
	if (r == -EAGAIN && client->is_trusted)
		wake(desk);
	return r;
}

void stat_desk_end(struct stat_desk *desk, const struct stat_client *client)
{
	struct slot *slot;

	pthread_mutex_lock(&desk->lock);
	slot = find(desk, client);
	if (slot)
		slot->is_over = true;
	pthread_mutex_unlock(&desk->lock);
	wake(desk);
}

void stat_desk_sweep(struct stat_desk *desk,
		     bool (*is_gone)(const void *userdata, const struct tree_id *client),
		     const void *userdata)
{
	pthread_mutex_lock(&desk->lock);
	for (size_t i = 0; i < STAT_CLIENTS_MAX; i++) {
		struct slot *slot = &desk->slots[i];

		if (slot->state != SLOT_FREE && is_gone(userdata, &slot->client.process))
			slot->is_over = true;
	}
	pthread_mutex_unlock(&desk->lock);
	wake(desk);
}

/* ---- the loop ---- */

int stat_desk_fd(const struct stat_desk *desk)
{
	return desk->wake_fd;
}

void stat_desk_refuse(struct stat_desk *desk)
{
	pthread_mutex_lock(&desk->lock);
	desk->is_refused = true;
	pthread_mutex_unlock(&desk->lock);
}

struct process_trees *stat_desk_trees(const struct stat_desk *desk)
{
	return desk->trees;
}

/* There are as many trees as slots, so there is room for each. */
static void follow_slot(struct stat_desk *desk, struct slot *slot, uint64_t now_ns)
{
	if (slot->state == SLOT_BEGINS) {
		slot->tree = process_trees_begin(desk->trees, &slot->client.process, now_ns);
		slot->state = SLOT_RUNS;
		slot->is_over |= slot->tree < 0;
	}
	if (slot->is_over && slot->state != SLOT_TAKEN) {
		if (slot->tree >= 0)
			process_trees_end(desk->trees, (uint32_t)slot->tree);
		free_slot(desk, slot);
	}
}

static bool has_used(const struct stat_desk *desk)
{
	return __atomic_load_n(&desk->used, __ATOMIC_RELAXED) > 0;
}

bool stat_desk_turn(struct stat_desk *desk, uint64_t now_ns)
{
	bool is_wanted = false;
	uint64_t count;

	if (desk->wake_fd >= 0)
		(void)!read(desk->wake_fd, &count, sizeof(count)); /* it may be empty */
	pthread_mutex_lock(&desk->lock);
	for (size_t i = 0; i < STAT_CLIENTS_MAX; i++) {
		struct slot *slot = &desk->slots[i];

		if (slot->state != SLOT_FREE)
			follow_slot(desk, slot, now_ns);
		is_wanted |= slot->state == SLOT_ASKED && slot->client.is_trusted;
	}
	pthread_mutex_unlock(&desk->lock);
	return is_wanted;
}

void stat_desk_take(struct stat_desk *desk)
{
	if (!has_used(desk))
		return;
	pthread_mutex_lock(&desk->lock);
	for (size_t i = 0; i < STAT_CLIENTS_MAX; i++) {
		if (desk->slots[i].state == SLOT_ASKED)
			desk->slots[i].state = SLOT_TAKEN;
	}
	pthread_mutex_unlock(&desk->lock);
}

static void give(struct stat_desk *desk, struct slot *slot, const struct layout *layout,
		 const struct rate_values *rates)
{
	const struct process_tree *tree = process_trees_at(desk->trees, (uint32_t)slot->tree);

	slot->is_over |= tree && tree->root_has_ended;
	if (slot->state != SLOT_TAKEN)
		return;
	strbuf_release(&slot->page);
	(void)tree_page(desk->trees, (uint32_t)slot->tree, layout, rates, !slot->client.is_trusted,
			&slot->page); /* no memory: the page has failed */
	slot->state = SLOT_ANSWERED;
}

void stat_desk_give(struct stat_desk *desk, const struct layout *layout, struct rates *rates)
{
	struct rates_health now;

	if (!has_used(desk))
		return;
	if (rates)
		rates_at(rates, (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_SEC), &now);
	pthread_mutex_lock(&desk->lock);
	for (size_t i = 0; i < STAT_CLIENTS_MAX; i++) {
		if (desk->slots[i].state > SLOT_BEGINS)
			give(desk, &desk->slots[i], layout, rates ? &now.now : NULL);
	}
	pthread_mutex_unlock(&desk->lock);
}
