// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Which processes have devices of a kind open: one pass over all open files, in the reader's pid
 * namespace. An object of its own, because it is loaded only if there is such a device.
 */
#include "kepler_core.bpf.h"
#include "kepler_types.h"

#define S_IFMT     0170000
#define S_IFCHR    0020000
#define MINOR_BITS 20 /* of a dev_t inside the kernel */

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set before load; no device has the major number 0. */
const volatile __u32 majors[KEPLER_DEVICE_MAJORS] = {};

SEC("iter/task_file")
int open_devices(struct bpf_iter__task_file *ctx)
{
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	struct kepler_open_device record = {};
	struct inode *inode;

	if (!task || !file)
		return 0;
	inode = file->f_inode;
	if ((inode->i_mode & S_IFMT) != S_IFCHR)
		return 0;
	record.major = inode->i_rdev >> MINOR_BITS;
	record.minor = inode->i_rdev & ((1U << MINOR_BITS) - 1);
	for (int i = 0; i < KEPLER_DEVICE_MAJORS; i++) {
		if (!majors[i] || record.major != majors[i])
			continue;
		record.pid = (__u32)task->tgid;
		record.fd = ctx->fd;
		/* Where the buffer is full the kernel calls again with this file. */
		bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
		break;
	}
	return 0;
}
