// SPDX-License-Identifier: Apache-2.0
#include "profile/stack_walk.h"

#include "tests/rig/property.h"
#include "tests/unit/unit.h"

#define START 0x7ffc00000000ULL

static struct stack_copy copy_of(const uint64_t *words, size_t count)
{
	return (struct stack_copy){ (const char *)words, START, count * sizeof(*words) };
}

/* A function without a frame pointer, called by one with one, called by the first of its thread. */
static void callers_are_found(void **state)
{
	const uint64_t words[] = { 1, 2, 0x5000, 3, START + 56, 0x6000, 4, 0, 0x7000 };
	const struct stack_copy stack = copy_of(words, 9);
	const struct unwind_rule leaf = { UNWIND_BY_STACK_POINTER, false, 24, -8, 0 };
	const struct unwind_rule framed = { UNWIND_BY_FRAME_POINTER, true, 16, -8, -16 };
	const struct unwind_rule first = { .kind = UNWIND_END };
	struct stack_registers registers = { 0x4000, START, START + 32 };

	assert_int_equal(stack_walk_step(&leaf, &stack, &registers), STACK_CALLER);
	assert_true(registers.ip == 0x5000 && registers.sp == START + 24);
	assert_true(registers.fp == START + 32);
	assert_int_equal(stack_walk_step(&framed, &stack, &registers), STACK_CALLER);
	assert_true(registers.ip == 0x6000 && registers.sp == START + 48);
	assert_true(registers.fp == START + 56);
	assert_int_equal(stack_walk_step(&first, &stack, &registers), STACK_END);
	assert_true(registers.ip == 0x6000);
}

/* Without a rule, by the frame pointer; one that is not a frame pointer leads nowhere. */
static void a_function_without_a_rule_has_a_frame_pointer(void **state)
{
	const uint64_t words[] = { 1, START + 24, 0x6000, 0, 0 };
	const struct stack_copy stack = copy_of(words, 5);
	const struct unwind_rule unknown = { .kind = UNWIND_UNKNOWN };
	struct stack_registers registers = { 0x4000, START, START + 8 };
	struct stack_registers stray = { 0x4000, START, 0x1234 };

	assert_int_equal(stack_walk_step(&unknown, &stack, &registers), STACK_CALLER);
	assert_true(registers.ip == 0x6000 && registers.fp == START + 24);
	assert_int_equal(stack_walk_step(&unknown, &stack, &registers), STACK_LOST);
	assert_int_equal(stack_walk_step(&unknown, &stack, &stray), STACK_LOST);
	assert_true(stray.ip == 0x4000);
}

static void a_step_leads_up(void **state)
{
	const uint64_t words[] = { 0x6000, 0x6000 };
	const struct stack_copy stack = copy_of(words, 2);
	const struct unwind_rule stays = { UNWIND_BY_STACK_POINTER, false, 0, 0, 0 };
	const struct unwind_rule wraps = { UNWIND_BY_STACK_POINTER, false, INT32_MIN, 0, 0 };
	struct stack_registers registers = { 0x4000, START, 0 };

	assert_int_equal(stack_walk_step(&stays, &stack, &registers), STACK_LOST);
	assert_int_equal(stack_walk_step(&wraps, &stack, &registers), STACK_LOST);
}

/* Any rule, registers and stack: steps end, and read the copy only, as the sanitizers see. */
static const char *walk_ends(struct property_source *source, void *userdata)
{
	const size_t count = (size_t)draw_below(source, 9);
	uint64_t *words = malloc(count * sizeof(*words) + 1);
	struct stack_copy stack = { .start = START, .size = count * sizeof(*words) };
	struct stack_registers registers = { 1, START + draw_below(source, 80),
					     START + draw_below(source, 80) };
	uint64_t last_sp;
	size_t steps = 0;

	if (!words)
		return "out of memory";
	for (size_t i = 0; i < count; i++)
		words[i] = draw_below(source, 4) ? START + draw_below(source, 90)
						 : draw_below(source, UINT64_MAX);
	stack.bytes = (const char *)words;
	do {
		const struct unwind_rule rule = {
			.kind = (uint8_t)draw_below(source, 4),
			.has_saved = draw_below(source, 2),
			.base_offset = (int32_t)draw_below(source, 60) - 20,
			.return_offset = (int32_t)draw_below(source, 60) - 40,
			.saved_offset = (int32_t)draw_below(source, 60) - 40,
		};

		last_sp = registers.sp;
		if (stack_walk_step(&rule, &stack, &registers) != STACK_CALLER)
			break;
		steps++;
	} while (registers.sp > last_sp && steps < 1000);
	free(words);
	return registers.sp < last_sp || steps >= 1000 ? "a step leads down, or nowhere" : NULL;
}

static void any_walk_ends(void **state)
{
	assert_true(property_check("walks", walk_ends, NULL, 20000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers_are_found),
		cmocka_unit_test(a_function_without_a_rule_has_a_frame_pointer),
		cmocka_unit_test(a_step_leads_up),
		cmocka_unit_test(any_walk_ends),
	};

	return unit_run(tests);
}
