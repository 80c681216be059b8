/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of C++ and Rust (in its first form, "_ZN…17h0123456789abcdefE") as their sources have them:
 * by the C++ runtime library, which is loaded with the first such name. Where it is not installed a
 * name stays as it is in the file.
 */
#pragma once

#include <stddef.h>

void demangle(const char *name, char *ret, size_t size);
