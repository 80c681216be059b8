// SPDX-License-Identifier: Apache-2.0
#include "truth/meters/energy_filter.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/macro.h"
#include "truth/meters/msr_meter.h"

#define MISC_PACKAGE_CTLS 0xbc
#define FILTER_BIT        1U
#define CPUINFO_MAX       (64 << 10) /* the first processor is enough */

static bool has_flag(const char *procfs, const char *flag)
{
	CLEANUP_FREE char *text = calloc(1, CPUINFO_MAX);
	char path[PATH_MAX];
	size_t len = strlen(flag);

	if (!text || path_join(path, sizeof(path), procfs, "cpuinfo") < 0)
		return false;
	/* A longer file is an error, but its beginning is there. */
	(void)read_file_at(AT_FDCWD, path, text, CPUINFO_MAX);
	for (const char *at = strstr(text, flag); at; at = strstr(at + 1, flag))
		if (at > text && at[-1] == ' ' && (at[len] == ' ' || at[len] == '\n'))
			return true;
	return false;
}

enum energy_filter energy_filter_find(const char *msr, const char *procfs)
{
	uint64_t value;
	bool is_read = truth_msr_read(msr, MISC_PACKAGE_CTLS, &value) == 0;

	if (is_read && (value & FILTER_BIT))
		return ENERGY_FILTER_ON;
	if (has_flag(procfs, "sgx") || has_flag(procfs, "tdx_host_platform"))
		return ENERGY_FILTER_SGX;
	return is_read ? ENERGY_FILTER_OFF : ENERGY_FILTER_UNKNOWN;
}

const char *energy_filter_text(enum energy_filter filter)
{
	static const char *const texts[] = {
		[ENERGY_FILTER_UNKNOWN] =
			"It is not known whether the processor filters its counters: register "
			"0xBC, IA32_MISC_PACKAGE_CTLS, cannot be read.",
		[ENERGY_FILTER_OFF] =
			"The processor does not filter its counters: bit 0 of register 0xBC, "
			"IA32_MISC_PACKAGE_CTLS, is clear, and SGX is not enabled.",
		[ENERGY_FILTER_SGX] =
			"The kernel has enabled SGX or TDX: since microcode of 2020, Intel's "
			"processors add random noise to their counters then (INTEL-SA-00389).",
		[ENERGY_FILTER_ON] = "The processor filters its counters: bit 0 of register 0xBC, "
				     "IA32_MISC_PACKAGE_CTLS, is set, so it adds random noise "
				     "(INTEL-SA-00389).",
	};

	return texts[filter];
}
