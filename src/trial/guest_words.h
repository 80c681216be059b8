/* SPDX-License-Identifier: Apache-2.0 */
/* The protocol between the validator and a guest that it has started, on the guest's console. */
#pragma once

#define GUEST_READY "kepler-validator: the guest is ready"
#define GUEST_WORK  'r' /* one CPU more is to be busy */
#define GUEST_REST  's' /* all are to rest */
