/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libdw of elfutils, which is loaded when it is needed first: a machine may lack it, and its
 * headers. Functions of libelf are looked up together with it, so that both are of the same
 * library, also if this program contains a libelf of its own. One thread.
 */
#pragma once

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The types of elfutils/libdw.h, as its library has them since 0.148. */
typedef struct Dwarf Dwarf;
typedef struct Dwarf_CFI_s Dwarf_CFI;
typedef struct Dwarf_Frame_s Dwarf_Frame;
typedef struct {
	uint8_t atom;
	uint64_t number, number2, offset;
} Dwarf_Op;
typedef struct {
	void *addr, *cu, *abbrev;
	long padding;
} Dwarf_Die;
typedef struct {
	unsigned code, form;
	unsigned char *value;
	void *cu;
} Dwarf_Attribute;

struct libdw {
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
	Dwarf *(*dwarf_begin_elf)(Elf *elf, int command, Elf_Scn *group);
	int (*dwarf_end)(Dwarf *dwarf);
	Dwarf_Die *(*dwarf_addrdie)(Dwarf *dwarf, uint64_t address, Dwarf_Die *ret);
	int (*dwarf_nextcu)(Dwarf *dwarf, uint64_t offset, uint64_t *next, size_t *header_size,
			    uint64_t *abbrev_offset, uint8_t *address_size, uint8_t *offset_size);
	Dwarf_Die *(*dwarf_offdie)(Dwarf *dwarf, uint64_t offset, Dwarf_Die *ret);
	ptrdiff_t (*dwarf_ranges)(Dwarf_Die *die, ptrdiff_t offset, uint64_t *base, uint64_t *start,
				  uint64_t *end);
	int (*dwarf_getscopes)(Dwarf_Die *unit, uint64_t address, Dwarf_Die **scopes);
	int (*dwarf_getscopes_die)(Dwarf_Die *die, Dwarf_Die **scopes);
	int (*dwarf_tag)(Dwarf_Die *die);
	const char *(*dwarf_diename)(Dwarf_Die *die);
	Dwarf_Attribute *(*dwarf_attr_integrate)(Dwarf_Die *die, unsigned name,
						 Dwarf_Attribute *ret);
	const char *(*dwarf_formstring)(Dwarf_Attribute *attribute);
};

/* NULL: it is not installed, or lacks a function. */
const struct libdw *libdw_load(void);

/* A file that the library reads. */
struct libdw_file {
	const struct libdw *dw;
	Elf *elf; /* NULL: it could not be read */
};

/*
 * Opens @fd, which is closed in any case, and lets @read take what is needed of it; from then on
 * the file itself is not read. @command: ELF_C_READ or ELF_C_READ_MMAP. 0; -ENOSYS: there is no
 * library; -ENOENT: it is not ELF, or @read returned false; -ENOMEM: @file is NULL.
 */
int libdw_file_open(int fd, Elf_Cmd command, bool (*read)(void *userdata, int fd), void *userdata,
		    struct libdw_file *file);
void libdw_file_close(const struct libdw_file *file); /* also if it was not opened */
