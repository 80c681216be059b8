/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An inference pipeline of three processes that pipes join: frames are decoded, as from JPEG, go
 * through a network with two dense layers, and its scores become a class. One pipeline for each
 * CPU; the frames that come out at the end are the counted work.
 */
#pragma once

#include "trial/load_kind.h"

extern const struct load_kind load_inference;
