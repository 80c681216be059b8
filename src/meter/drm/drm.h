/* SPDX-License-Identifier: Apache-2.0 */
/* The source drm: GPUs of AMD and Intel, by the sensors of their drivers. */
#pragma once

struct meter_ops;
extern const struct meter_ops drm_meter;
