// SPDX-License-Identifier: Apache-2.0
#include "export/catalog/value_read.h"

#include <string.h>

static uint64_t read_integer(const char *at, enum value_type type)
{
	union {
		uint64_t u64;
		uint32_t u32;
		int64_t i64;
		bool flag;
	} member;

	switch (type) {
	case AS_U64:
		memcpy(&member.u64, at, sizeof(member.u64));
		return member.u64;
	case AS_U32:
		memcpy(&member.u32, at, sizeof(member.u32));
		return member.u32;
	case AS_I64:
		memcpy(&member.i64, at, sizeof(member.i64));
		return member.i64 > 0 ? (uint64_t)member.i64 : 0;
	case AS_BOOL:
		memcpy(&member.flag, at, sizeof(member.flag));
		return member.flag;
	case AS_ONE:
	case AS_DOUBLE:
	default:
		return 1;
	}
}

struct value value_read(const void *base, size_t offset, unsigned type)
{
	const char *at = (const char *)base + offset;
	struct value value = { .is_real = type == AS_DOUBLE };

	if (value.is_real)
		memcpy(&value.real, at, sizeof(value.real));
	else
		value.integer = read_integer(at, (enum value_type)type);
	return value;
}
