/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of the machine that are held and not used: accelerators that a container holds without
 * keeping them busy, and CPUs that are reserved for a container (its request, else its limit) that
 * runs nearly nothing.
 *
 * Only known holders are found. The holder of an accelerator is known from the kubelet's
 * allocations, and from the devices with --idle.devices=holder; the size of a container from
 * Kubernetes.
 *
 * A reservation is without work in a minute in which its container used less than 1 % of it. The
 * time without use counts from the first look at the earliest. One thread notes, any thread reads.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "attribution/books.h"
#include "energy/owner_names.h"
#include "snapshot/owner_text.h"

#define UNUSED_MAX        256 /* that are followed; others are counted */
#define UNUSED_LOOK_NS    (60 * 1000000000ULL)
#define UNUSED_WORK_SHARE 100 /* one part in so many of a reservation is work */

enum unused_kind { UNUSED_GPU, UNUSED_CPU, UNUSED_KINDS };

struct unused_finding {
	enum unused_kind kind;
	uint64_t since_ns;      /* CLOCK_BOOTTIME */
	uint32_t device;        /* of a GPU: its number in struct domain */
	uint32_t size_millicpu; /* of a CPU reservation */
	char owner[OWNER_TEXT_SIZE];
	char namespace[OWNER_NAME_MAX + 1], pod[OWNER_NAME_MAX + 1];
};

struct unused;

int unused_new(struct unused **ret);
void unused_free(struct unused *unused); /* NULL is fine */
/* Looks at the interval that @books have booked, which ended at @now_ns (CLOCK_BOOTTIME). */
void unused_note(struct unused *unused, const struct books *books, uint64_t now_ns);
/*
 * Copies those that have been unused for at least @least_ns, longest first. Returns how many there
 * are in @ret, of @room; @ret_left_out: that are not followed.
 */
size_t unused_read(struct unused *unused, uint64_t now_ns, uint64_t least_ns,
		   struct unused_finding *ret, size_t room, uint32_t *ret_left_out);
