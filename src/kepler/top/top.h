/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `kepler top`: the power of processes, containers, pods, VMs and namespaces, on a terminal or as
 * text or JSON. It shows what a running exporter has (top_source.h), or measures by itself.
 */
#pragma once

#include "options/option_set.h"

extern const struct option_set top_options;

int top_main(int argc, char *const *argv, char *const *environ_);
