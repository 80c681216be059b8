/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's own parts, from the meters' counters to the snapshot, fed with a simulated machine.
 * Only product.c knows their interfaces.
 */
#pragma once

#include "picture.h"
#include "world.h"

struct product;
struct held;

enum product_result {
	PRODUCT_PUBLISHED,
	PRODUCT_BOOKED, /* not published for lack of memory; the next one makes up for it */
	PRODUCT_BROKEN,
};

struct product *product_new(const struct world *world);
void product_free(struct product *product);
/* One interval: reads @world's meters, books what ran, publishes. */
enum product_result product_interval(struct product *product, struct world *world);
/* Zones that are in its account; those that are found wait while there is no memory for them. */
size_t product_zones(const struct product *product);
/* Requests for memory that were refused so far. */
uint64_t product_refusals(void);

/* The newest snapshot; given back with product_let_go(), also after product_free(). */
struct held *product_hold(struct product *product);
void product_let_go(struct held *held);
/* Takes its picture again; @picture's memory is reused. */
void product_draw(const struct held *held, struct picture *picture);
