// SPDX-License-Identifier: Apache-2.0
#include "kepler/pages/viewer.h"

#include <stddef.h>

#include "base/num.h"
#include "host/proc.h"
#include "snapshot/power_picture.h"

static bool is_trusted(const struct viewing *viewing, const struct http_peer_user *user)
{
	return user &&
	       (user->uid == 0 || user->uid == viewing->own ||
		(viewing->group != (gid_t)-1 && http_peer_user_is_in(user, viewing->group)));
}

static enum sight sight_of(const struct viewing *viewing, const struct http_peer_user *user)
{
	if (is_trusted(viewing, user) || viewing->everyone == EVERYONE_ALL)
		return SIGHT_ALL;
	return user && viewing->everyone == EVERYONE_OWN ? SIGHT_OWN : SIGHT_NONE;
}

struct viewer viewer_of_user(const struct viewing *viewing, const struct http_peer_user *user)
{
	return (struct viewer){
		.sight = sight_of(viewing, user),
		.is_trusted = is_trusted(viewing, user),
		.uid = user ? user->uid : (uid_t)-1,
		.proc_fd = viewing->proc_fd,
	};
}

struct viewer viewer_of(const struct viewing *viewing, const struct http_request *request)
{
	struct http_peer_user user;

	if (!viewing)
		return (struct viewer){ .sight = SIGHT_ALL };
	return viewer_of_user(viewing, http_request_user(request, &user) ? &user : NULL);
}

bool viewer_take_turn(struct viewer_times *times, uid_t uid, uint64_t now_ns)
{
	size_t place = VIEWERS_MAX;
	uint64_t from_ns;

	for (size_t i = 0; i < VIEWERS_MAX; i++) {
		bool is_over = now_ns >= times->last[i].due_ns;

		if (!is_over && times->last[i].uid == uid)
			return false;
		if (is_over && (place == VIEWERS_MAX || times->last[i].uid == uid))
			place = i;
	}
	if (place == VIEWERS_MAX)
		return false;
	from_ns = now_ns > VIEWER_EARLY_NS ? now_ns - VIEWER_EARLY_NS : 0;
	if (times->last[place].uid == uid && times->last[place].due_ns > from_ns)
		from_ns = times->last[place].due_ns;
	times->last[place].uid = uid;
	times->last[place].due_ns = from_ns + NSEC_PER_SEC;
	return true;
}

/* The user is read first: had the pid been reused before that, the start would be another one. */
bool viewer_owns(const void *viewer, const struct power_row *process)
{
	const struct viewer *of = viewer;
	struct proc_stat stat;
	uint32_t uid;

	return process->pid && proc_read_uid(of->proc_fd, process->pid, &uid) == 0 &&
	       uid == of->uid && proc_read_stat(of->proc_fd, process->pid, &stat) == 0 &&
	       proc_is_same_start(proc_start_ns(&stat), process->start_ns);
}
