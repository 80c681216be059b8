/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scripts with which bash, zsh and fish complete a program's commands, their options, the values of
 * those that have a few, and what a command's first operand can be; other words are names of files.
 */
#pragma once

#include "base/strbuf.h"
#include "options/command.h"

/* 0; -EINVAL: @shell is not bash, zsh or fish. */
int completion_write(const struct program *program, const char *shell, struct strbuf *out);
/* How the scripts are printed and installed. */
void completion_help(const struct program *program, struct strbuf *out);
