/* SPDX-License-Identifier: Apache-2.0 */
/* Users whose processes' words count: root, and those that managers of machines run them as. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define VM_USERS_MAX 8

struct vm_users {
	uint32_t uids[VM_USERS_MAX];
	uint32_t count;
};

/*
 * root, and who is called qemu, kvm, libvirt or libvirt-qemu in @passwd, a file as /etc/passwd is.
 * Of names a directory service would have to be asked for nothing is known: what asks may hang.
 */
void vm_users_read(const char *passwd, struct vm_users *ret);
bool vm_users_have(const struct vm_users *users, uint32_t uid);
