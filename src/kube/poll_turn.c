// SPDX-License-Identifier: Apache-2.0
/* The end of the interval, less the duration of a poll, within the limits on frequency. */
#include "kube/poll_turn.h"

#define MARGIN_NS 100000000ULL /* for a poll that takes longer than the last one did */

uint64_t poll_turn_due_ns(const struct poll_turn *turn, uint64_t demanded_ns)
{
	uint64_t lead_ns = MARGIN_NS + 2 * turn->took_ns, due_ns = demanded_ns;

	if (lead_ns > turn->interval_ns / 2)
		lead_ns = turn->interval_ns / 2;
	due_ns += turn->interval_ns - lead_ns;
	if (due_ns > turn->began_ns + turn->poll_ns)
		due_ns = turn->began_ns + turn->poll_ns;
	return due_ns > turn->began_ns + turn->pause_ns ? due_ns : turn->began_ns + turn->pause_ns;
}
