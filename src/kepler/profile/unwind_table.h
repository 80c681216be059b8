/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unwind tables of a program or library (section .eh_frame), read by libdw, which is loaded for
 * this. The content of the file is untrusted. One thread.
 */
#pragma once

#include <stdint.h>

#include "profile/stack_walk.h"

struct unwind_table;

/*
 * Takes @fd over, and needs it no more. 0; -ENOSYS: there is no libdw; -ENOENT: the file has no
 * tables; -ENOMEM.
 */
int unwind_table_open(int fd, struct unwind_table **ret);
void unwind_table_close(struct unwind_table *table); /* NULL is fine */
/* The rule at @address, as the file counts addresses; UNWIND_UNKNOWN if it is in no table. */
struct unwind_rule unwind_table_find(const struct unwind_table *table, uint64_t address);
