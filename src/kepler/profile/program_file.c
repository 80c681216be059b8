// SPDX-License-Identifier: Apache-2.0
/*
 * libelf reads the tables; it does not map the file, which may be cut meanwhile. Names stay in the
 * file until one is asked for, so that a large program costs 16 bytes per function.
 */
#include "kepler/profile/program_file.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/macro.h"
#include "kepler/profile/demangle.h"
#include "profile/symbol_table.h"

#define SEGMENTS_MAX   64
#define BUILD_ID_MIN   2
#define BUILD_ID_MAX   ((PROGRAM_BUILD_ID_MAX - 1) / 2)
#define DEBUG_PATH_MAX 192

/* A part of the file that is mapped as it is. */
struct segment {
	uint64_t offset, size, address;
};

struct program_file {
	int fd;            /* of the file that has the names */
	uint64_t names_at; /* of its table of names, in bytes */
	uint64_t names_len;
	struct symbol_table symbols; /* by address; names are places in that table */
	struct segment segments[SEGMENTS_MAX];
	size_t segment_count;
	char build_id[PROGRAM_BUILD_ID_MAX]; /* hexadecimal; "": none */
};

static void read_segments(Elf *elf, struct program_file *file)
{
	size_t count = 0;

	if (elf_getphdrnum(elf, &count) < 0)
		return;
	for (size_t i = 0; i < count && file->segment_count < SEGMENTS_MAX; i++) {
		GElf_Phdr header;

		if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_LOAD)
			file->segments[file->segment_count++] =
				(struct segment){ header.p_offset, header.p_filesz,
						  header.p_vaddr };
	}
}

/* The section of that type, with its header; NULL: there is none. */
static Elf_Scn *find_section(Elf *elf, uint32_t type, GElf_Shdr *ret)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, ret) && ret->sh_type == type)
			return section;
	}
	return NULL;
}

/* 0; -ENOENT: there are no functions; -ENOMEM or -ENOSPC. */
static int read_symbols(Elf *elf, uint32_t type, struct program_file *file)
{
	GElf_Shdr header, names;
	Elf_Scn *section = find_section(elf, type, &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	Elf_Scn *strings = section ? elf_getscn(elf, header.sh_link) : NULL;
	GElf_Sym symbol;
	int r = 0;

	if (!data || !strings || !gelf_getshdr(strings, &names) || names.sh_flags & SHF_COMPRESSED)
		return -ENOENT;
	for (int i = 0; r == 0 && gelf_getsym(data, i, &symbol); i++) {
		int kind = GELF_ST_TYPE(symbol.st_info);

		if ((kind != STT_FUNC && kind != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF ||
		    !symbol.st_value || symbol.st_name >= names.sh_size)
			continue;
		r = symbol_table_add(&file->symbols, symbol.st_value,
				     symbol.st_size > UINT32_MAX ? UINT32_MAX
								 : (uint32_t)symbol.st_size,
				     symbol.st_name);
	}
	file->names_at = names.sh_offset;
	file->names_len = names.sh_size;
	return file->symbols.count ? r : -ENOENT;
}

static void read_build_id(Elf *elf, struct program_file *file)
{
	GElf_Shdr header;
	Elf_Scn *section = NULL;

	while (!file->build_id[0] && (section = elf_nextscn(elf, section))) {
		Elf_Data *data = gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE
					 ? elf_getdata(section, NULL)
					 : NULL;
		size_t at = 0, name, desc;
		GElf_Nhdr note;

		while (data && (at = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
			const unsigned char *id = (const unsigned char *)data->d_buf + desc;

			if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof("GNU") ||
			    note.n_descsz < BUILD_ID_MIN || note.n_descsz > BUILD_ID_MAX ||
			    memcmp((const char *)data->d_buf + name, "GNU", sizeof("GNU")) != 0)
				continue;
			for (size_t i = 0; i < note.n_descsz; i++)
				(void)snprintf(file->build_id + 2 * i, 3, "%02x", id[i]);
			break;
		}
	}
}

int program_file_open_debug(const struct program_file *file)
{
	char path[DEBUG_PATH_MAX];

	if (!file->build_id[0])
		return -1;
	(void)snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", file->build_id,
		       file->build_id + 2);
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* The symbols of the file with debugging information for this one. */
static int read_debug_file(struct program_file *file)
{
	CLEANUP_FD int fd = program_file_open_debug(file);
	Elf *elf;
	int r;

	elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	r = elf && elf_kind(elf) == ELF_K_ELF ? read_symbols(elf, SHT_SYMTAB, file) : -ENOENT;

	(void)elf_end(elf);
	if (r == 0) {
		(void)close(file->fd);
		file->fd = TAKE_FD(fd);
	}
	return r;
}

static int read_file(struct program_file *file)
{
	Elf *elf;
	int r;

	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOEXEC;
	elf = elf_begin(file->fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		(void)elf_end(elf);
		return -ENOEXEC;
	}
	read_segments(elf, file);
	read_build_id(elf, file);
	r = read_symbols(elf, SHT_SYMTAB, file);
	if (r == -ENOENT)
		r = read_debug_file(file);
	if (r == -ENOENT)
		r = read_symbols(elf, SHT_DYNSYM, file);
	(void)elf_end(elf);
	return r == -ENOENT || r == -ENOSPC ? 0 : r;
}

int program_file_open(int fd, struct program_file **ret)
{
	struct program_file *file = calloc(1, sizeof(*file));
	int r;

	if (!file) {
		(void)close(fd);
		return -ENOMEM;
	}
	file->fd = fd;
	r = read_file(file);
	if (r < 0) {
		program_file_close(file);
		return r;
	}
	*ret = file;
	return 0;
}

void program_file_close(struct program_file *file)
{
	if (!file)
		return;
	(void)close(file->fd);
	symbol_table_release(&file->symbols);
	free(file);
}

const char *program_file_build_id(const struct program_file *file)
{
	return file->build_id[0] ? file->build_id : NULL;
}

bool program_file_address(const struct program_file *file, uint64_t offset, uint64_t *ret)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct segment *segment = &file->segments[i];

		if (offset < segment->offset || offset - segment->offset >= segment->size)
			continue;
		*ret = offset - segment->offset + segment->address;
		return true;
	}
	return false;
}

int program_file_find(struct program_file *file, uint64_t offset, char ret[static PROGRAM_NAME_MAX])
{
	char name[PROGRAM_NAME_MAX];
	const struct symbol *symbol = NULL;
	uint64_t room, address;
	ssize_t n;

	if (program_file_address(file, offset, &address))
		symbol = symbol_table_find(&file->symbols, address);
	if (!symbol)
		return -ENOENT;
	room = file->names_len - symbol->name;
	n = pread(file->fd, name, room < sizeof(name) - 1 ? (size_t)room : sizeof(name) - 1,
		  (off_t)(file->names_at + symbol->name));
	if (n <= 0)
		return -ENOENT;
	name[n] = '\0';
	if (!name[0])
		return -ENOENT;
	demangle(name, ret, PROGRAM_NAME_MAX);
	return 0;
}
