// SPDX-License-Identifier: Apache-2.0
#include "profile/stack_walk.h"

#include <string.h>

/* push %rbp; mov %rsp, %rbp: the caller's frame pointer, and above it the return address. */
static const struct unwind_rule by_frame_pointer = {
	.kind = UNWIND_BY_FRAME_POINTER,
	.has_saved = true,
	.base_offset = 16,
	.return_offset = -8,
	.saved_offset = -16,
};

/* The word at @address; false: it is outside of the copy. */
static bool read_word(const struct stack_copy *stack, uint64_t address, uint64_t *ret)
{
	if (address < stack->start || address - stack->start > stack->size ||
	    stack->size - (size_t)(address - stack->start) < sizeof(*ret))
		return false;
	memcpy(ret, stack->bytes + (address - stack->start), sizeof(*ret));
	return true;
}

enum stack_step stack_walk_step(const struct unwind_rule *rule, const struct stack_copy *stack,
				struct stack_registers *registers)
{
	struct stack_registers caller = *registers;
	uint64_t base;

	if (rule->kind == UNWIND_END)
		return STACK_END;
	if (rule->kind == UNWIND_UNKNOWN)
		rule = &by_frame_pointer;
	base = rule->kind == UNWIND_BY_STACK_POINTER ? registers->sp : registers->fp;
	base += (uint64_t)(int64_t)rule->base_offset; /* modulo 2^64, as addresses are */
	if (base <= registers->sp)
		return STACK_LOST;
	if (!read_word(stack, base + (uint64_t)(int64_t)rule->return_offset, &caller.ip))
		return STACK_LOST;
	if (rule->has_saved &&
	    !read_word(stack, base + (uint64_t)(int64_t)rule->saved_offset, &caller.fp))
		return STACK_LOST;
	if (!caller.ip)
		return rule == &by_frame_pointer ? STACK_LOST : STACK_END;
	caller.sp = base;
	*registers = caller;
	return STACK_CALLER;
}
