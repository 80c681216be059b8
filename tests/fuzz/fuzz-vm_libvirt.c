// SPDX-License-Identifier: Apache-2.0
/* The state of a machine as libvirt writes it; its owner has chosen parts of the text. */
#include <stdlib.h>
#include <string.h>

#include "workload/vm_libvirt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_socket(const char *path)
{
	if (strnlen(path, VM_SOCKET_MAX) == VM_SOCKET_MAX || (path[0] && path[0] != '/'))
		abort();
}

static void check(const struct vm_libvirt *vm)
{
	if (!vm->pid || strnlen(vm->uuid, sizeof(vm->uuid)) != VM_UUID_MAX - 1 ||
	    strspn(vm->uuid, "0123456789abcdef-") != VM_UUID_MAX - 1 || vm->vsock_cid == 1 ||
	    vm->vsock_cid == 2)
		abort();
	check_socket(vm->energy_socket);
	check_socket(vm->vhostmd_socket);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size ? size : 1); /* not terminated */
	struct diag diag = { "" };
	struct vm_libvirt vm;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	if (vm_libvirt_parse(text, size, &vm, &diag) == 0)
		check(&vm);
	else if (!diag.text[0])
		abort();
	free(text);
	return 0;
}
