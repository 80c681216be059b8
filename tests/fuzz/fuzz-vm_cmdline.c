// SPDX-License-Identifier: Apache-2.0
/* A process's name in the first line, then its command line: both are the process's own choice. */
#include <stdlib.h>
#include <string.h>

#include "workload/vm_cmdline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct vm_description *vm)
{
	size_t len = strnlen(vm->uuid, sizeof(vm->uuid));

	if (!vm->hypervisor || !vm->family || (len != 0 && len != VM_UUID_MAX - 1) ||
	    strspn(vm->uuid, "0123456789abcdef-") != len ||
	    strnlen(vm->name, sizeof(vm->name)) == sizeof(vm->name))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
	size_t name_len = end ? (size_t)(end - data) : 0;
	char comm[16] = "", *words;
	struct vm_description vm;

	if (!end || name_len >= sizeof(comm))
		return 0;
	memcpy(comm, data, name_len);
	size -= name_len + 1;
	words = malloc(size ? size : 1); /* not terminated */
	if (!words)
		return 0;
	memcpy(words, end + 1, size);
	(void)vm_comm_served_pid(comm);
	if (vm_cmdline_parse(comm, words, size, &vm))
		check(&vm);
	free(words);
	return 0;
}
