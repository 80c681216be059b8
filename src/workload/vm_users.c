// SPDX-License-Identifier: Apache-2.0
#include "workload/vm_users.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"

static bool is_manager(const char *name)
{
	static const char *const names[] = { "qemu", "kvm", "libvirt", "libvirt-qemu" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

void vm_users_read(const char *passwd, struct vm_users *ret)
{
	FILE *file = fopen(passwd, "re");
	const struct passwd *user;

	*ret = (struct vm_users){ .uids = { 0 }, .count = 1 };
	while (file && ret->count < VM_USERS_MAX && (user = fgetpwent(file)))
		if (is_manager(user->pw_name))
			ret->uids[ret->count++] = user->pw_uid;
	if (file)
		(void)fclose(file);
}

bool vm_users_have(const struct vm_users *users, uint32_t uid)
{
	for (uint32_t i = 0; i < users->count; i++)
		if (users->uids[i] == uid)
			return true;
	return false;
}
