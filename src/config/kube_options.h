/* SPDX-License-Identifier: Apache-2.0 */
/* --kube.…: where the names of pods come from. */
#pragma once

#include <stddef.h>

#include "options/option_set.h"

/* Values of --kube.pod-resources that are not a path. */
#define POD_RESOURCES_AUTO "auto"
#define POD_RESOURCES_OFF  "off"

/* Sections over struct kube_options; NULL after the last. */
const struct option_section *kube_options_at(size_t index);
