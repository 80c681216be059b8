// SPDX-License-Identifier: Apache-2.0
#include "engine/user_watch.h"

#include "snapshot/snapshot_holder.h"

void user_watch_begin(struct user_watch *watch, const struct snapshot_holder *holder,
		      struct activity_reader *reader, uint64_t now_ns)
{
	bool is_wanted = snapshot_holder_wants_users(holder, now_ns);

	if (is_wanted == watch->users.is_noted)
		return;
	activity_want_users(reader, is_wanted);
	if (!is_wanted)
		process_users_release(&watch->users);
	watch->users.is_noted = is_wanted;
}
