/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that only a start needs: code of the program and its libraries that ran once (relocation,
 * reading BTF, loading BPF programs, parsing the configuration), and the heap's free end.
 */
#pragma once

/*
 * At the begin of the start, from one thread: large blocks that it allocates are mappings of their
 * own, of which only what is used is resident. Never fails.
 */
void start_memory_begin(void);
/*
 * Returns it to the kernel: unmaps all pages of code and constants, of which those still in use are
 * mapped again from the page cache by the next access, and trims the heap. Data is untouched, as is
 * what mlockall() holds. For the end of the start, from one thread; never fails. From
 * now on large blocks come from the heap again, where an interval finds the last one's.
 */
void start_memory_release(void);
