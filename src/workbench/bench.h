/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command bench: models of this machine with one command. It runs the other commands one after
 * the other, each as a process of its own, and each leaves its files in one folder. A phase whose
 * files exist is not run again, so that a run that was stopped is continued.
 */
#pragma once

int bench_main(int argc, char *const *argv, char *const *environ_);
