/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In which partition of an IBM Z this machine is: PROCFS/sysinfo, which s390 alone has (Linux:
 * arch/s390/kernel/sysinfo.c; the lines "LPAR Name:" and "VM00 Name:").
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SYSINFO_NAME_MAX 9 /* with the terminator */

struct sysinfo_facts {
	char partition[SYSINFO_NAME_MAX]; /* "": not known */
	bool is_guest;                    /* of a hypervisor in that partition, z/VM or KVM */
};

/* Pure. */
void sysinfo_parse(const char *text, size_t len, struct sysinfo_facts *ret);
/* 0, or -errno: -ENOENT on all machines other than s390. */
int sysinfo_read(const char *procfs, struct sysinfo_facts *ret);
