/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names as labels: cut to size and made comparable.
 *
 * Exporters print each control byte but the newline, and each that is not UTF-8, as U+FFFD. Two
 * names that differ only in such bytes would then be one series twice, which any process can bring
 * about by naming itself. So every such byte, and U+FFFD itself, becomes LABEL_INVALID_BYTE here:
 * names that print alike are equal.
 */
#pragma once

#include <stddef.h>

#define LABEL_INVALID_BYTE '\xff'

/*
 * Writes @text (NULL counts as "") to @buf[size], terminated; a character is never cut in half. The
 * result of a result is the same.
 */
void label_text(char *buf, size_t size, const char *text);
