// SPDX-License-Identifier: Apache-2.0
/*
 * The kubelet knows its pods and no watch: the whole list is asked for at times, and pods that did
 * not change are recognised by their text.
 *
 * The kubelet tells of a container some seconds after it runs, so a demand is worth some polls. One
 * that still brings nothing makes the next wait longer, up to the ordinary poll: the container that
 * somebody wants may be none of Kubernetes', and would be asked for again and again. A poll that
 * nobody demanded, or that brought something, ends that.
 */
#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/macro.h"
#include "kube/kube_parts.h"

#define PATIENT_POLLS 5 /* in a row that brought nothing, before the waits grow */

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

/* Until the next poll is due; true when the thread shall end. */
static bool wait_for_turn(struct kube *kube, uint64_t demand_ms)
{
	if (kube_wait(kube, demand_ms, false))
		return true;
	return demand_ms < kube->timing.poll &&
	       kube_wait(kube, kube->timing.poll - demand_ms, true);
}

void kubelet_run(struct kube *kube, struct kube_fault *fault)
{
	uint64_t demand_ms = kube->timing.demand, before;
	unsigned fruitless = 0;

	for (;;) {
		bool demanded = kube_take_demand(kube);

		before = kube->table.changes;
		if (poll_once(kube, fault) < 0)
			return;
		fruitless = demanded && kube->table.changes == before ? fruitless + 1 : 0;
		demand_ms = fruitless > PATIENT_POLLS ? demand_ms * 2 : kube->timing.demand;
		if (demand_ms > kube->timing.poll)
			demand_ms = kube->timing.poll;
		if (wait_for_turn(kube, demand_ms)) {
			fault->stopped = true;
			return;
		}
	}
}
