/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out if time in interrupts and softirqs is part of the run time of the interrupted task.
 * With CONFIG_IRQ_TIME_ACCOUNTING the scheduler takes it out, and only then a certain structure is
 * among the kernel's types. Reading them takes 10 ms, so only doctor does it.
 */
#pragma once

enum irq_time {
	IRQ_TIME_UNKNOWN, /* the kernel has no BTF, or it cannot be read */
	IRQ_TIME_APART,
	IRQ_TIME_OF_TASKS,
};

enum irq_time irq_time_read(void);
