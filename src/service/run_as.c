// SPDX-License-Identifier: Apache-2.0
#include "service/run_as.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "service/privileges.h"

/* Groups first: afterwards they cannot be changed. */
static int take_identity(const struct passwd *user)
{
	if (initgroups(user->pw_name, user->pw_gid) < 0 ||
	    setresgid(user->pw_gid, user->pw_gid, user->pw_gid) < 0 ||
	    setresuid(user->pw_uid, user->pw_uid, user->pw_uid) < 0)
		return -errno;
#if defined(__SANITIZE_ADDRESS__) /* the leak checker traces its own process */
	(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
#endif
	return 0;
}

static int become(const char *name, struct diag *diag)
{
	const struct passwd *user;
	int r;

	errno = 0;
	user = getpwnam(name);
	if (!user)
		return diag_set(diag, -ENOENT, "there is no user \"%.64s\"%s%s", name,
				errno ? ": " : "", errno ? strerrordesc_np(errno) : "");
	if (user->pw_uid == geteuid() && user->pw_uid == getuid())
		return 0;
	r = take_identity(user);
	return r < 0 ? diag_set(diag, r, "cannot become the user \"%.64s\": %s", name,
				r == -EPERM ? "only root can" : strerrordesc_np(-r))
		     : 0;
}

int run_as(const char *user, struct diag *diag)
{
	int r = *user ? become(user, diag) : 0;

	return r < 0 ? r : privileges_drop(0, diag);
}
