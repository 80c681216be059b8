/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The initramfs of a guest that needs nothing but its console: guest_program.c as /init, in the
 * format "newc" of cpio (Documentation/driver-api/early-userspace/buffer-format.rst).
 */
#pragma once

/* A file in memory with it, closed on exec; its descriptor, or -errno. */
int guest_image_open(void);
