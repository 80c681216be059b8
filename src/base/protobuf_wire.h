/* SPDX-License-Identifier: Apache-2.0 */
/* The forms that values of fields have in Protocol Buffers (protobuf.dev, "Encoding"). */
#pragma once

enum protobuf_wire {
	PROTOBUF_VARINT = 0,
	PROTOBUF_FIXED64 = 1,
	PROTOBUF_BYTES = 2, /* a string, a message, packed numbers */
	PROTOBUF_FIXED32 = 5,
};
