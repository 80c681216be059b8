// SPDX-License-Identifier: Apache-2.0
/*
 * libdw executes the instructions of a table up to an address, and returns the rules there as
 * expressions. Those of ordinary functions are a register with an offset, and a place relative to
 * that. All others (of the linkage table, of signal handlers) are left as not known.
 */
#include "kepler/profile/unwind_table.h"

#include <stdlib.h>

#include "kepler/profile/libdw.h"

/* Numbers of registers: System V ABI for x86-64, figure 3.36. */
#define REGISTER_FRAME 6
#define REGISTER_STACK 7
/* DWARF 5, section 7.7.1. */
#define OP_PLUS_CONSTANT 0x23
#define OP_REGISTER_0    0x70
#define OP_REGISTER_31   0x8f
#define OP_REGISTER      0x92
#define OP_BASE          0x9c
#define OPS_OF_PLACE     3

struct unwind_table {
	struct libdw_file file;
	Dwarf_CFI *cfi; /* of the file's, which frees it */
};

static bool read_table(void *userdata, int fd)
{
	struct unwind_table *table = userdata;

	(void)fd;
	table->cfi = table->file.dw->dwarf_getcfi_elf(table->file.elf);
	return table->cfi;
}

int unwind_table_open(int fd, struct unwind_table **ret)
{
	struct unwind_table *table = calloc(1, sizeof(*table));
	int r = libdw_file_open(fd, ELF_C_READ, read_table, table, table ? &table->file : NULL);

	if (r < 0)
		unwind_table_close(table);
	else
		*ret = table;
	return r;
}

void unwind_table_close(struct unwind_table *table)
{
	if (table)
		libdw_file_close(&table->file);
	free(table);
}

static bool fits(uint64_t offset, int32_t *ret)
{
	int64_t value = (int64_t)offset;

	*ret = (int32_t)value;
	return value >= -(1 << 30) && value <= 1 << 30;
}

/* The base is a register with an offset. */
static bool read_base(const struct libdw *dw, Dwarf_Frame *frame, struct unwind_rule *ret)
{
	uint64_t number;
	Dwarf_Op *ops;
	size_t count;

	if (dw->dwarf_frame_cfa(frame, &ops, &count) < 0 || count != 1)
		return false;
	if (ops->atom >= OP_REGISTER_0 && ops->atom <= OP_REGISTER_31)
		number = ops->atom - OP_REGISTER_0;
	else if (ops->atom == OP_REGISTER)
		number = ops->number;
	else
		return false;
	if (number != REGISTER_FRAME && number != REGISTER_STACK)
		return false;
	ret->kind = number == REGISTER_FRAME ? UNWIND_BY_FRAME_POINTER : UNWIND_BY_STACK_POINTER;
	return fits(ops->atom == OP_REGISTER ? ops->number2 : ops->number, &ret->base_offset);
}

enum register_place { PLACE_STRANGE, PLACE_SAME, PLACE_NOWHERE, PLACE_ON_STACK };

/* Where the caller's register is. */
static enum register_place read_place(const struct libdw *dw, Dwarf_Frame *frame, int number,
				      int32_t *ret_offset)
{
	Dwarf_Op memory[OPS_OF_PLACE], *ops;
	size_t count;

	*ret_offset = 0;
	if (dw->dwarf_frame_register(frame, number, memory, &ops, &count) < 0)
		return PLACE_STRANGE;
	if (count == 0)
		return ops ? PLACE_NOWHERE : PLACE_SAME;
	if (ops[0].atom != OP_BASE || count > 2)
		return PLACE_STRANGE;
	if (count == 2 && (ops[1].atom != OP_PLUS_CONSTANT || !fits(ops[1].number, ret_offset)))
		return PLACE_STRANGE;
	return PLACE_ON_STACK;
}

static struct unwind_rule read_rule(const struct libdw *dw, Dwarf_Frame *frame)
{
	struct unwind_rule rule = { .kind = UNWIND_UNKNOWN };
	enum register_place place;
	int return_register = dw->dwarf_frame_info(frame, NULL, NULL, NULL);

	if (return_register < 0 || !read_base(dw, frame, &rule))
		return (struct unwind_rule){ .kind = UNWIND_UNKNOWN };
	place = read_place(dw, frame, return_register, &rule.return_offset);
	if (place == PLACE_NOWHERE)
		return (struct unwind_rule){ .kind = UNWIND_END };
	if (place != PLACE_ON_STACK)
		return (struct unwind_rule){ .kind = UNWIND_UNKNOWN };
	place = read_place(dw, frame, REGISTER_FRAME, &rule.saved_offset);
	rule.has_saved = place == PLACE_ON_STACK;
	return rule;
}

struct unwind_rule unwind_table_find(const struct unwind_table *table, uint64_t address)
{
	struct unwind_rule rule;
	Dwarf_Frame *frame;

	if (table->file.dw->dwarf_cfi_addrframe(table->cfi, address, &frame) != 0)
		return (struct unwind_rule){ .kind = UNWIND_UNKNOWN };
	rule = read_rule(table->file.dw, frame);
	free(frame);
	return rule;
}
