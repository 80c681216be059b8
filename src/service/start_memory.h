/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that only a start needs: code of the program and its libraries that ran once (relocation,
 * reading BTF, loading BPF programs, parsing the configuration), and the heap's free end.
 */
#pragma once

/*
 * For the beginning of the start, from one thread: large blocks become separate mappings, so only
 * their used parts are resident. Never fails.
 */
void start_memory_begin(void);
/*
 * Returns it to the kernel: unmaps all pages of code and constants, and trims the heap. Pages that
 * are still in use are mapped again from the page cache by the next access. Data is untouched, and
 * so is memory that mlockall() holds. For the end of the start, from one thread; never fails. From
 * now on large blocks come from the heap again, where an interval finds the previous one's blocks.
 */
void start_memory_release(void);
