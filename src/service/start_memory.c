// SPDX-License-Identifier: Apache-2.0
/*
 * Segments that are not writable have no private pages: text of x86-64 and arm64 is not relocated,
 * and what the dynamic linker writes (RELRO) lies in a writable segment. So their pages are copies
 * of the page cache's, and dropping them loses nothing.
 */
#include "service/start_memory.h"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

static int drop_segments(struct dl_phdr_info *object, size_t size, void *userdata)
{
	const uintptr_t page_mask = ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);

	(void)size;
	(void)userdata;
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
		uintptr_t from = (object->dlpi_addr + segment->p_vaddr) & page_mask;
		uintptr_t end = object->dlpi_addr + segment->p_vaddr + segment->p_memsz;

		if (segment->p_type == PT_LOAD && !(segment->p_flags & PF_W))
			(void)madvise((void *)from, end - from, MADV_DONTNEED);
	}
	return 0;
}

void start_memory_release(void)
{
	(void)dl_iterate_phdr(drop_segments, NULL);
	(void)malloc_trim(0);
}
