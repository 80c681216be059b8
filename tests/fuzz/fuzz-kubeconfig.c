// SPDX-License-Identifier: Apache-2.0
/*
 * A kubeconfig of any bytes: it is taken whole, with where the server is, or refused with a reason
 * that names the file. Nothing is left open.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kube/kube_access.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *path, const char *context)
{
	struct kube_access access;
	struct diag diag = { "" };
	int r;

	kube_access_init(&access);
	r = kube_access_from_kubeconfig(path, context, &access, &diag);
	if (r < 0 ? !diag.text[0] || strnlen(diag.text, sizeof(diag.text)) == sizeof(diag.text)
		  : !access.server || access.data_count > KUBE_ACCESS_FDS)
		abort();
	if (r == 0 && !access.client_cert_file != !access.client_key_file)
		abort();
	kube_access_release(&access);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC), next;
	char path[64];

	if (fd < 0)
		return 0;
	(void)fchmod(fd, 0600);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, size) == (ssize_t)size) {
		check(path, NULL);
		check(path, "other");
	}
	next = dup(fd);
	if (next > fd + 1)
		abort(); /* something was left open */
	(void)close(next);
	(void)close(fd);
	return 0;
}
