// SPDX-License-Identifier: Apache-2.0
#include "engine/sleepers.h"

void sleepers_look(struct ledger *ledger, struct identity_resolver *identities, uint64_t now_ns,
		   uint64_t *looked_ns)
{
	bool all = !*looked_ns || now_ns - *looked_ns >= SLEEPERS_LOOK_NS;
	uint32_t slots = ledger_slots(ledger, LEVEL_CONTAINER);

	if (all)
		*looked_ns = now_ns;
	for (uint32_t i = 0; i < slots; i++) {
		const struct ledger_container *row = ledger_container_at(ledger, i);
		const char *id;

		if (!row->row.used || row->living || (!all && !row->row.touched))
			continue;
		id = row->names->text[LABEL_CONTAINER_ID];
		ledger_set_there(ledger, i,
				 !row->replaced && !row->is_other &&
					 identity_cgroup_exists(identities, id));
	}
}
