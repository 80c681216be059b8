/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A script with which bash completes a program's commands, their options, and the values of those
 * that have a few; other words are names of files.
 */
#pragma once

#include "base/strbuf.h"
#include "options/command.h"

void completion_write(const struct program *program, struct strbuf *out);
