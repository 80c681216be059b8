// SPDX-License-Identifier: Apache-2.0
#include "activity/irq_time.h"

#include <bpf/btf.h>

enum irq_time irq_time_read(void)
{
	struct btf *types = btf__load_vmlinux_btf();
	enum irq_time irq_time;

	if (!types)
		return IRQ_TIME_UNKNOWN;
	irq_time = btf__find_by_name_kind(types, "irqtime", BTF_KIND_STRUCT) < 0 ? IRQ_TIME_OF_TASKS
										 : IRQ_TIME_APART;
	btf__free(types);
	return irq_time;
}
