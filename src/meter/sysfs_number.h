/* SPDX-License-Identifier: Apache-2.0 */
/* A number as a sysfs file holds it: digits and one newline. Pure. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/*
 * Reads text[0..len), the result of a read: a negative @len is handed through. 0, -EBADMSG (empty,
 * or cut: no newline), -EINVAL (not digits) or -ERANGE (above 2^64-1). *ret_value only on success.
 */
int sysfs_number_parse(const char *text, ssize_t len, uint64_t *ret_value);
