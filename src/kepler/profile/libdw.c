// SPDX-License-Identifier: Apache-2.0
#include "kepler/profile/libdw.h"

#include <dlfcn.h>
#include <errno.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/shared_library.h"

#define LIBRARY "libdw.so.1"

#define FUNCTION(name)                                                                             \
	{                                                                                          \
#name, offsetof(struct libdw, name)                                                \
	}

static const struct shared_function functions[] = {
	FUNCTION(elf_version),
	FUNCTION(elf_begin),
	FUNCTION(elf_end),
	FUNCTION(elf_cntl),
	FUNCTION(dwarf_getcfi_elf),
	FUNCTION(dwarf_cfi_addrframe),
	FUNCTION(dwarf_frame_info),
	FUNCTION(dwarf_frame_cfa),
	FUNCTION(dwarf_frame_register),
	FUNCTION(dwarf_begin_elf),
	FUNCTION(dwarf_end),
	FUNCTION(dwarf_addrdie),
	FUNCTION(dwarf_nextcu),
	FUNCTION(dwarf_offdie),
	FUNCTION(dwarf_ranges),
	FUNCTION(dwarf_getscopes),
	FUNCTION(dwarf_getscopes_die),
	FUNCTION(dwarf_tag),
	FUNCTION(dwarf_diename),
	FUNCTION(dwarf_attr_integrate),
	FUNCTION(dwarf_formstring),
};

static bool load(struct libdw *ret)
{
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);

	return library && !shared_library_find(library, functions, ARRAY_SIZE(functions), ret) &&
	       ret->elf_version(EV_CURRENT) != EV_NONE;
}

const struct libdw *libdw_load(void)
{
	static struct libdw library;
	static bool is_known, is_loaded;

	if (!is_known)
		is_loaded = load(&library);
	is_known = true;
	return is_loaded ? &library : NULL;
}

static int open_file(int fd, Elf_Cmd command, bool (*read)(void *userdata, int fd), void *userdata,
		     struct libdw_file *file)
{
	file->dw = libdw_load();
	if (!file->dw)
		return -ENOSYS;
	file->elf = file->dw->elf_begin(fd, command, NULL);
	if (!file->elf || !read(userdata, fd))
		return -ENOENT;
	(void)file->dw->elf_cntl(file->elf, ELF_C_FDDONE); /* what is needed is in memory */
	return 0;
}

int libdw_file_open(int fd, Elf_Cmd command, bool (*read)(void *userdata, int fd), void *userdata,
		    struct libdw_file *file)
{
	int r = file ? open_file(fd, command, read, userdata, file) : -ENOMEM;

	(void)close(fd);
	return r;
}

void libdw_file_close(const struct libdw_file *file)
{
	if (file->elf)
		(void)file->dw->elf_end(file->elf);
}
