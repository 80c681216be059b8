/* SPDX-License-Identifier: Apache-2.0 */
/* "kepler-validator run": exporters are judged by this machine's own meters while loads run. */
#pragma once

/* @argv is behind the command's name; the exit status. */
int run_main(int argc, char *const *argv, char *const *environ_);
