// SPDX-License-Identifier: Apache-2.0
/*
 * The kubelet has no watch: the whole list is requested periodically, and unchanged pods are
 * recognised by their text.
 *
 * The kubelet reports a container a second or two after it has started, so a demand gets several
 * polls, each shortly before the next look-up (poll_turn.h). After that each poll without a result
 * makes the next wait longer, up to the ordinary poll: the wanted container may not belong to
 * Kubernetes, and would be asked for again and again. An ordinary poll, or one with a result, ends
 * that.
 */
#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/macro.h"
#include "kube/kube_state.h"
#include "kube/poll_turn.h"

#define PATIENT_POLLS 5 /* in a row without a result, before the waits grow */

static int poll_once(struct kube *kube, struct kube_fault *fault)
{
	CLEANUP(pod_list_page_release) struct pod_list_page page = { 0 };
	char url[512];
	int r;

	(void)snprintf(url, sizeof(url), "%s/pods", kube->kubelet_url);
	pod_table_begin(&kube->table);
	r = kube_list(kube, "kubelet", kube->kubelet_client, url, &page, fault);
	if (r < 0 || page.status != 200)
		return r < 0 ? r : -EIO;
	pod_table_end(&kube->table, clock_ns(CLOCK_BOOTTIME));
	kube_note_success(kube, "kubelet");
	backoff_succeeded(&kube->backoff);
	fault->answered = true;
	return 0;
}

static bool wait_until(struct kube *kube, uint64_t until_ns, bool demand)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	/* Rounded up: never too soon. */
	return until_ns > now_ns &&
	       kube_wait(kube, (until_ns - now_ns + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC, demand);
}

/* Waits until the next poll is due; true when the thread must end. */
static bool wait_for_turn(struct kube *kube, struct poll_turn *turn)
{
	if (wait_until(kube, turn->began_ns + turn->poll_ns, true))
		return true;
	turn->interval_ns =
		atomic_load_explicit(&kube->interval_ms, memory_order_relaxed) * NSEC_PER_MSEC;
	return wait_until(kube, poll_turn_due_ns(turn, clock_ns(CLOCK_MONOTONIC)), false);
}

/* Sets the pause after a demand with or without a result. */
static void set_pause(struct kube *kube, struct poll_turn *turn, unsigned fruitless)
{
	uint64_t demand_ns = kube->timing.demand * NSEC_PER_MSEC;

	turn->pause_ns = fruitless > PATIENT_POLLS ? turn->pause_ns * 2 : demand_ns;
	if (turn->pause_ns > turn->poll_ns)
		turn->pause_ns = turn->poll_ns;
}

void kubelet_run(struct kube *kube, struct kube_fault *fault)
{
	struct poll_turn turn = { .poll_ns = kube->timing.poll * NSEC_PER_MSEC };
	unsigned fruitless = 0;

	while (!fault->stopped) {
		bool demanded = kube_take_demand(kube);
		uint64_t before = kube->table.changes;

		turn.began_ns = clock_ns(CLOCK_MONOTONIC);
		if (poll_once(kube, fault) < 0)
			return;
		turn.took_ns = clock_ns(CLOCK_MONOTONIC) - turn.began_ns;
		fruitless = demanded && kube->table.changes == before ? fruitless + 1 : 0;
		set_pause(kube, &turn, fruitless);
		fault->stopped = wait_for_turn(kube, &turn);
	}
}
