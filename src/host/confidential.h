/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is this virtual machine protected from its host? Then the host is outside its trust, and so is
 * all that the host reports. By what the kernel shows only in such a guest, without reading any
 * device:
 *
 * - AMD SEV-SNP: the platform device sev-guest, since Linux 5.19 (arch/x86, snp_init_platform_
 *   device()), whether its driver is loaded or not.
 * - Intel TDX: the flag tdx_guest of PROCFS/cpuinfo, since 5.19, or the device tdx_guest of its
 *   driver (drivers/virt/coco/tdx-guest).
 * - IBM Z Secure Execution: SYSFS/firmware/uv/prot_virt_guest is 1, since 5.4 (arch/s390/kernel/
 *   uv.c).
 *
 * SEV and SEV-ES without SNP are not found: the kernel shows them in its log only, and these do not
 * protect memory from being replaced by the host.
 */
#pragma once

#include <stdbool.h>

/* "SEV-SNP", "TDX", "Secure Execution", or "" if it is not known to be protected. */
const char *confidential_kind(bool has_tdx_flag, const char *sysfs);
