/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32C (Castagnoli, RFC 3720 appendix B.4), which zlib lacks: "123456789" gives E3069283. */
#pragma once

#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(const void *bytes, size_t len);
