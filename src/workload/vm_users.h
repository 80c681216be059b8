/* SPDX-License-Identifier: Apache-2.0 */
/* Users with trusted command lines: root, and the users of managers of machines. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define VM_USERS_MAX 8

struct vm_users {
	uint32_t uids[VM_USERS_MAX];
	uint32_t count;
};

/*
 * Reads root and the users qemu, kvm, libvirt and libvirt-qemu from @passwd, a file like
 * /etc/passwd. Directory services are not asked, because that may hang.
 */
void vm_users_read(const char *passwd, struct vm_users *ret);
bool vm_users_have(const struct vm_users *users, uint32_t uid);
