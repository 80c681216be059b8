/* SPDX-License-Identifier: Apache-2.0 */
/* Names of files in the folder that --data-path names, as upstream's program has it. */
#pragma once

#define DATA_PATH_SIZE 4096

/*
 * A file's name in the folder @data_path, unless that is "", or the name is absolute or "-": @name,
 * or @buf with both.
 */
const char *data_path_of(const char *data_path, const char *name, char buf[static DATA_PATH_SIZE]);
