// SPDX-License-Identifier: Apache-2.0
/*
 * libdw executes the instructions of a table up to an address, and returns the rules there as
 * expressions. Those of ordinary functions are a register with an offset, and a place relative to
 * that. All others (of the linkage table, of signal handlers) are left as not known.
 *
 * Functions of libelf are looked up together with libdw, so that both are of the same library, also
 * if this program contains a libelf of its own.
 */
#include "kepler/profile/unwind_table.h"

#include <dlfcn.h>
#include <errno.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"

#define LIBRARY "libdw.so.1"
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

/* The types of elfutils/libdw.h, as its library has them since 0.148. */
typedef struct Dwarf_CFI_s Dwarf_CFI;
typedef struct Dwarf_Frame_s Dwarf_Frame;
typedef struct {
	uint8_t atom;
	uint64_t number, number2, offset;
} Dwarf_Op;

static struct {
	bool is_known, is_loaded;
	unsigned (*elf_version)(unsigned version);
	Elf *(*elf_begin)(int fd, Elf_Cmd command, Elf *ref);
	int (*elf_end)(Elf *elf);
	int (*elf_cntl)(Elf *elf, Elf_Cmd command);
	Dwarf_CFI *(*dwarf_getcfi_elf)(Elf *elf);
	int (*dwarf_cfi_addrframe)(Dwarf_CFI *cfi, uint64_t address, Dwarf_Frame **frame);
	int (*dwarf_frame_info)(Dwarf_Frame *frame, uint64_t *start, uint64_t *end, bool *signal);
	int (*dwarf_frame_cfa)(Dwarf_Frame *frame, Dwarf_Op **ops, size_t *nops);
	int (*dwarf_frame_register)(Dwarf_Frame *frame, int number, Dwarf_Op *memory,
				    Dwarf_Op **ops, size_t *nops);
} dw;

struct unwind_table {
	Elf *elf;
	Dwarf_CFI *cfi; /* of the file's, which frees it */
};

static bool find(void *library, const char *name, void *ret)
{
	void *address = dlsym(library, name);

	memcpy(ret, &address, sizeof(address));
	return address;
}

static bool load_library(void)
{
	void *library;

	if (dw.is_known)
		return dw.is_loaded;
	dw.is_known = true;
	library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	dw.is_loaded = library && find(library, "elf_version", &dw.elf_version) &&
		       find(library, "elf_begin", &dw.elf_begin) &&
		       find(library, "elf_end", &dw.elf_end) &&
		       find(library, "elf_cntl", &dw.elf_cntl) &&
		       find(library, "dwarf_getcfi_elf", &dw.dwarf_getcfi_elf) &&
		       find(library, "dwarf_cfi_addrframe", &dw.dwarf_cfi_addrframe) &&
		       find(library, "dwarf_frame_info", &dw.dwarf_frame_info) &&
		       find(library, "dwarf_frame_cfa", &dw.dwarf_frame_cfa) &&
		       find(library, "dwarf_frame_register", &dw.dwarf_frame_register) &&
		       dw.elf_version(EV_CURRENT) != EV_NONE;
	return dw.is_loaded;
}

static int read_table(int fd, struct unwind_table *table)
{
	table->elf = dw.elf_begin(fd, ELF_C_READ, NULL);
	table->cfi = table->elf ? dw.dwarf_getcfi_elf(table->elf) : NULL;
	if (!table->cfi)
		return -ENOENT;
	(void)dw.elf_cntl(table->elf, ELF_C_FDDONE); /* the tables are in memory */
	return 0;
}

int unwind_table_open(int fd, struct unwind_table **ret)
{
	struct unwind_table *table = NULL;
	int r = -ENOSYS;

	if (load_library()) {
		table = calloc(1, sizeof(*table));
		r = table ? read_table(fd, table) : -ENOMEM;
	}
	(void)close(fd);
	if (r < 0) {
		unwind_table_close(table);
		return r;
	}
	*ret = table;
	return 0;
}

void unwind_table_close(struct unwind_table *table)
{
	if (!table)
		return;
	if (table->elf)
		(void)dw.elf_end(table->elf);
	free(table);
}

static bool fits(uint64_t offset, int32_t *ret)
{
	int64_t value = (int64_t)offset;

	*ret = (int32_t)value;
	return value >= -(1 << 30) && value <= 1 << 30;
}

/* The base is a register with an offset. */
static bool read_base(Dwarf_Frame *frame, struct unwind_rule *ret)
{
	uint64_t number;
	Dwarf_Op *ops;
	size_t count;

	if (dw.dwarf_frame_cfa(frame, &ops, &count) < 0 || count != 1)
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
static enum register_place read_place(Dwarf_Frame *frame, int number, int32_t *ret_offset)
{
	Dwarf_Op memory[OPS_OF_PLACE], *ops;
	size_t count;

	*ret_offset = 0;
	if (dw.dwarf_frame_register(frame, number, memory, &ops, &count) < 0)
		return PLACE_STRANGE;
	if (count == 0)
		return ops ? PLACE_NOWHERE : PLACE_SAME;
	if (ops[0].atom != OP_BASE || count > 2)
		return PLACE_STRANGE;
	if (count == 2 && (ops[1].atom != OP_PLUS_CONSTANT || !fits(ops[1].number, ret_offset)))
		return PLACE_STRANGE;
	return PLACE_ON_STACK;
}

static struct unwind_rule read_rule(Dwarf_Frame *frame)
{
	struct unwind_rule rule = { .kind = UNWIND_UNKNOWN };
	enum register_place place;
	int return_register = dw.dwarf_frame_info(frame, NULL, NULL, NULL);

	if (return_register < 0 || !read_base(frame, &rule))
		return (struct unwind_rule){ .kind = UNWIND_UNKNOWN };
	place = read_place(frame, return_register, &rule.return_offset);
	if (place == PLACE_NOWHERE)
		return (struct unwind_rule){ .kind = UNWIND_END };
	if (place != PLACE_ON_STACK)
		return (struct unwind_rule){ .kind = UNWIND_UNKNOWN };
	place = read_place(frame, REGISTER_FRAME, &rule.saved_offset);
	rule.has_saved = place == PLACE_ON_STACK;
	return rule;
}

struct unwind_rule unwind_table_find(const struct unwind_table *table, uint64_t address)
{
	struct unwind_rule rule;
	Dwarf_Frame *frame;

	if (dw.dwarf_cfi_addrframe(table->cfi, address, &frame) != 0)
		return (struct unwind_rule){ .kind = UNWIND_UNKNOWN };
	rule = read_rule(frame);
	free(frame);
	return rule;
}
