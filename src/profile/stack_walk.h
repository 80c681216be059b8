/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A step from a function to its caller, over a copy of a part of a stack. What the step needs is in
 * the unwind tables of the function's file (DWARF 5, section 6.4; section .eh_frame of the LSB) as
 * a rule; a function without a rule is taken for one that keeps a frame pointer. Pure, and bounded:
 * each step goes up the stack, and none reads outside of the copy, whose content is untrusted.
 *
 * For processors with 64-bit addresses whose calls push the return address: x86-64.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How to find the caller's registers at one address of a function. */
enum unwind_kind {
	UNWIND_UNKNOWN, /* not in the tables, or too complicated: by the frame pointer */
	UNWIND_END,     /* it has no caller */
	UNWIND_BY_STACK_POINTER,
	UNWIND_BY_FRAME_POINTER,
};

struct unwind_rule {
	uint8_t kind;          /* enum unwind_kind: the register that base_offset is added to, */
	bool has_saved;        /* ... which gives the base: the caller's stack pointer */
	int32_t base_offset;   /* bytes, as below */
	int32_t return_offset; /* from the base to the return address */
	int32_t saved_offset;  /* with has_saved: from there to the caller's frame pointer */
};

struct stack_registers {
	uint64_t ip, sp, fp;
};

/* The stack from the stack pointer of the sample upwards. */
struct stack_copy {
	const char *bytes; /* [size], not aligned */
	uint64_t start;    /* its address */
	size_t size;
};

enum stack_step {
	STACK_CALLER, /* the registers are the caller's now */
	STACK_END,    /* there is none: the stack is whole */
	STACK_LOST,   /* it is not known, or beyond the copy */
};

/* @registers change with STACK_CALLER only. */
enum stack_step stack_walk_step(const struct unwind_rule *rule, const struct stack_copy *stack,
				struct stack_registers *registers);
