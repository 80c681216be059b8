/* SPDX-License-Identifier: Apache-2.0 */
/* The text that names an owner (a container's row) to a person. */
#pragma once

#include <stdbool.h>

#include "energy/owner_names.h"

#define OWNER_TEXT_SIZE 128

/*
 * "checkout.service", "shop/checkout-7d9f" or, where @whole is set, "web in shop/checkout-7d9f".
 */
void owner_text(const struct owner_names *names, bool whole, char ret[OWNER_TEXT_SIZE]);
