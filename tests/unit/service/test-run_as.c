// SPDX-License-Identifier: Apache-2.0
/* Identity and rights of a daemon that was started as root, afterwards. */
#include "service/run_as.h"

#include <cap-ng.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>

#include "tests/rig/in_child.h"
#include "tests/unit/unit.h"

#define NAME "nobody"

static bool has_no_capability(void)
{
	return capng_get_caps_process() == 0 &&
	       capng_have_capabilities(CAPNG_SELECT_CAPS) == CAPNG_NONE &&
	       capng_have_capabilities(CAPNG_SELECT_AMBIENT) == CAPNG_NONE &&
	       prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

/* Each of these: the number of the first check that fails, 0 when all hold. */

static int becomes_another_user(const void *argument)
{
	const struct passwd *user = argument;
	gid_t groups[8] = { 0 };
	const gid_t own = 0;
	uid_t real, effective, saved;

	if (setgroups(1, &own) < 0 || run_as(NAME, NULL) != 0)
		return 1;
	if (getresuid(&real, &effective, &saved) < 0 || real != user->pw_uid ||
	    effective != user->pw_uid || saved != user->pw_uid)
		return 2;
	if (getresgid(&real, &effective, &saved) < 0 || real != user->pw_gid ||
	    effective != user->pw_gid || saved != user->pw_gid)
		return 3;
	if (getgroups(8, groups) != 1 || groups[0] != user->pw_gid)
		return 4;
	if (!has_no_capability())
		return 5;
	return setuid(0) == 0 ? 6 : 0;
}

static int stays_root_without_capabilities(const void *argument)
{
	(void)argument;
	if (run_as("", NULL) != 0)
		return 1;
	return geteuid() != 0 ? 2 : !has_no_capability() ? 3 : 0;
}

static int another_user_cannot(const void *argument)
{
	struct diag diag = { "" };

	(void)argument;
	if (run_as(NAME, NULL) != 0)
		return 1;
	if (run_as("root", &diag) != -EPERM || !strstr(diag.text, "\"root\": only root can"))
		return 2;
	return run_as(NAME, NULL) != 0 ? 3 : 0; /* it is that user already */
}

static int unknown_user(const void *argument)
{
	struct diag diag = { "" };

	(void)argument;
	if (run_as("no-such-user", &diag) != -ENOENT)
		return 1;
	return !strstr(diag.text, "no user \"no-such-user\"") ? 2 : geteuid() != 0 ? 3 : 0;
}

static void gives_up_root(void **state)
{
	const struct passwd *found;
	struct passwd user;

	if (geteuid() != 0)
		skip();
	found = getpwnam(NAME);
	assert_non_null(found);
	user = *found; /* what was found is gone with the next look */
	assert_int_equal(in_child(becomes_another_user, &user), 0);
	assert_int_equal(in_child(stays_root_without_capabilities, NULL), 0);
	assert_int_equal(in_child(another_user_cannot, NULL), 0);
	assert_int_equal(in_child(unknown_user, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(gives_up_root) };

	return unit_run(tests);
}
