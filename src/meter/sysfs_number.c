// SPDX-License-Identifier: Apache-2.0
/*
 * The newline distinguishes a whole number from the beginning of one: "1234" may be the start of
 * "123456".
 */
#include "meter/sysfs_number.h"

#include <errno.h>

#include "base/num.h"

int sysfs_number_parse(const char *text, ssize_t len, uint64_t *ret_value)
{
	if (len < 0)
		return (int)len;
	if (len == 0 || text[len - 1] != '\n')
		return -EBADMSG;
	return parse_u64(text, (size_t)len, ret_value);
}
