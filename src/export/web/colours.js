// SPDX-License-Identifier: Apache-2.0
// A colour for each name, which it keeps while the page is open.

const PALETTE = ["#4c78d0", "#e0902f", "#d9605a", "#4fae9b", "#7f62c7", "#c9749f", "#8a9a3b", "#6f8fb5", "#a9744f", "#3f8f5b"];
const known = new Map();

/** Colours of what is no owner: [light, dark]. */
const PLAIN = { idle: ["#ccd2d9", "#3c4650"], other: ["#9aa3ad", "#6f7a86"], unattributed: ["#e2c9a0", "#7a6440"] };

export function plainColour(kind) {
	return PLAIN[kind][matchMedia("(prefers-color-scheme: dark)").matches ? 1 : 0];
}

/** The place of a name among all that have a colour: an order that does not change from second to second. */
export function orderOf(name) {
	colourOf(name);
	return [...known.keys()].indexOf(name);
}

export function colourOf(name) {
	if (!known.has(name))
		known.set(name, PALETTE[known.size % PALETTE.length]);
	return known.get(name);
}
