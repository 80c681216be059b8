/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a running virtual machine in the file that libvirt keeps for its own restart:
 * /run/libvirt/qemu/NAME.xml, a <domstatus> around the live <domain>
 * (https://libvirt.org/formatdomain.html). Devices that were added or removed since the start are
 * in it as they are now, which the command line of QEMU does not show. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/diag.h"
#include "workload/vm_cmdline.h"

#define VM_LIBVIRT_BYTES_MAX (256U * 1024) /* a machine with many devices has a tenth of it */
#define VM_SOCKET_MAX        108           /* with its terminator, as of a unix socket's path */

/* Names of virtio-serial ports. */
#define VM_PORT_ENERGY  "io.kepler.energy.0"
#define VM_PORT_VHOSTMD "org.github.vhostmd.1"

struct vm_libvirt {
	uint32_t pid;
	char uuid[VM_UUID_MAX]; /* lower case */
	uint32_t vsock_cid;     /* 0: it has no vsock device */
	/* Where QEMU listens for the ports of these names (mode='bind'); "" none. */
	char energy_socket[VM_SOCKET_MAX], vhostmd_socket[VM_SOCKET_MAX];
};

/*
 * 0, or -EINVAL with a diagnosis: it is not the state of a running machine. A socket with a path
 * that is not absolute or too long does not count.
 */
int vm_libvirt_parse(const char *text, size_t len, struct vm_libvirt *ret, struct diag *diag);
