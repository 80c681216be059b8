/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for src/workload/name_directory.c and shows what it was given. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "workload/name_directory.h"

struct directory *fake_directory_new(size_t room); /* puts beyond @room containers: -ENOSPC */
void fake_directory_free(struct directory *directory);
/* The entry put under @id and not taken back, or NULL. */
const struct container_names *fake_directory_find(const struct directory *directory,
						  const char *id);
size_t fake_directory_count(const struct directory *directory);
size_t fake_directory_puts(const struct directory *directory); /* calls ever */
void fake_directory_set_room(struct directory *directory, size_t room);
