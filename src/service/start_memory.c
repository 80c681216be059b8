// SPDX-License-Identifier: Apache-2.0
/*
 * Segments that are not writable have no private pages: text of x86-64 and arm64 is not relocated,
 * and what the dynamic linker writes (RELRO) lies in a writable segment. So their pages are copies
 * of the page cache's, and dropping them loses nothing.
 *
 * By default malloc() raises the size of blocks that are mappings whenever one is freed. The start
 * frees BTF of megabytes, so large tables that are mostly empty would come from the heap, where
 * calloc() clears, and so touches, what lay below its top.
 */
#include "service/start_memory.h"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

/* Blocks from this size on are mappings of their own: at the start, and later. */
#define START_BLOCK (128 << 10)
#define LATER_BLOCK (8 << 20)

void start_memory_begin(void)
{
	(void)mallopt(M_MMAP_THRESHOLD, START_BLOCK);
}

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
	(void)mallopt(M_MMAP_THRESHOLD, LATER_BLOCK);
	(void)mallopt(M_TRIM_THRESHOLD, 2 * LATER_BLOCK);
}
