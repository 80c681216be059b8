/* SPDX-License-Identifier: Apache-2.0 */
/* Why the kernel refused our BPF programs, as one sentence with the remedy. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "host/kernel_version.h"

struct bpf_refusal {
	int err; /* result of loading, -errno */
	bool has_btf;
	bool has_cap_bpf;     /* CAP_BPF, or CAP_SYS_ADMIN, which includes it */
	bool has_cap_perfmon; /* CAP_PERFMON, or CAP_SYS_ADMIN */
	bool memlock_limited; /* the kernel is older than 5.11 and RLIMIT_MEMLOCK is set */
	bool locked_down;     /* confidentiality mode */
	struct kernel_version kernel;
};

/* Looks at this process and kernel. */
void bpf_refusal_inspect(int err, struct bpf_refusal *ret);
/* Writes the sentence; pure. */
void bpf_refusal_explain(const struct bpf_refusal *refusal, char *text, size_t size);
