// SPDX-License-Identifier: Apache-2.0
// Numbers and times as people read them. A value that is not known is a dash, never 0.

const NONE = "–";

/** Three digits that matter: 198, 92.0, 3.43, 0.21. */
function digits(value) {
	return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** Two digits that matter of a small amount, as of money: 0.0034. */
export function amount(value) {
	return value === 0 || Math.abs(value) >= 1 ? digits(value) : value.toPrecision(2);
}

export function watts(value, estimated) {
	if (value === null || value === undefined)
		return NONE;
	const mark = estimated ? "~" : "";
	return value >= 1000 ? `${mark}${digits(value / 1000)} kW` : `${mark}${digits(value)} W`;
}

export function joules(value) {
	if (value === null || value === undefined)
		return NONE;
	const units = ["J", "kJ", "MJ", "GJ", "TJ"];
	let unit = 0;
	while (value >= 1000 && unit < units.length - 1) {
		value /= 1000;
		unit++;
	}
	return `${digits(value)} ${units[unit]}`;
}

export function percent(value) {
	return value === null || value === undefined || Number.isNaN(value) ? NONE : `${value < 0.1 && value > 0 ? value.toFixed(2) : value.toFixed(1)} %`;
}

/** A time of day, with seconds only if they matter. */
export function clock(seconds, fine) {
	const options = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
	if (fine)
		options.second = "2-digit";
	return new Date(seconds * 1000).toLocaleTimeString("en-GB", options);
}
