/* SPDX-License-Identifier: Apache-2.0 */
/* Options: whether context switches are counted, and with which events of the processor. */
#pragma once

#include "activity/counter_event.h"

enum switch_mode { SWITCH_AUTO, SWITCH_ALWAYS, SWITCH_NEVER };

struct switch_options {
	/* AUTO: if the machine has events. */
	enum switch_mode switches;
	/*
	 * AUTO: what opens at the start, without a privilege that is kept; ALWAYS: also on CPUs
	 * that come later.
	 */
	enum switch_mode counters;
	const char *events[COUNTER_USES]; /* NULL: "auto" */
};
