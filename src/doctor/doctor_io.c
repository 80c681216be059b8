// SPDX-License-Identifier: Apache-2.0
#include "doctor/doctor_io.h"

#include <stdio.h>
#include <string.h>

#include "activity/irq_time.h"
#include "energy/signal.h"

#define SIGNALS_TEXT_MAX 320

/* "net_tx_irq, net_rx_irq". */
static void list_signals(uint32_t signals, char *text, size_t size)
{
	size_t len = 0;

	text[0] = '\0';
	for (enum signal signal = 0; signal < SIGNAL_COUNT && len < size; signal++) {
		if (signals & SIGNAL_BIT(signal))
			len += (size_t)snprintf(text + len, size - len, "%s%s", len ? ", " : "",
						signal_name(signal));
	}
}

static void examine_irq_time(struct findings *findings, enum irq_time irq_time)
{
	if (irq_time == IRQ_TIME_APART)
		findings_add(findings, FINDING_OK, "signals", NULL,
			     "this kernel keeps time in interrupts apart from the run time of "
			     "tasks");
	else if (irq_time == IRQ_TIME_OF_TASKS)
		findings_add(findings, FINDING_NOTE, "signals", NULL,
			     "this kernel counts time in interrupts as run time of the task that "
			     "was interrupted (it is built without "
			     "CONFIG_IRQ_TIME_ACCOUNTING), so the owner of that task is charged "
			     "for it");
}

void doctor_examine_io(struct findings *findings, const struct io_info *io)
{
	char known[SIGNALS_TEXT_MAX], missing[SIGNALS_TEXT_MAX];

	list_signals(io->signals, known, sizeof(known));
	list_signals(io->missing, missing, sizeof(missing));
	examine_irq_time(findings, irq_time_read());
	if (!io->err && !io->signals && !io->missing)
		findings_add(findings, FINDING_NOTE, "signals",
			     "--bpf.io=on counts them; cost: about 0.4 µs a packet",
			     "softirqs and bytes of network and block devices are not counted");
	if (io->err)
		findings_add(findings, FINDING_NOTE, "signals", NULL,
			     "the kernel refuses the BPF programs of bpf.io (%s): I/O work of "
			     "containers is not counted",
			     strerrordesc_np(-io->err));
	if (io->signals)
		findings_add(findings, FINDING_OK, "signals", NULL, "counted per container: %s",
			     known);
	if (io->missing)
		findings_add(findings, FINDING_NOTE, "signals", NULL,
			     "not counted on this kernel: %s (%s)", missing, io->missing_text);
	else if (io->missing_text[0])
		findings_add(findings, FINDING_NOTE, "signals", NULL,
			     "only some causes of softirqs are seen (%s)", io->missing_text);
}
