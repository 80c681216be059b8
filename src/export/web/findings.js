// SPDX-License-Identifier: Apache-2.0
// Things that are held and not used. Without any the part is hidden, as it is where none is known.
import { watts } from "./format.js";

const KINDS = {
	gpu_held: (it, time) => `has held GPU ${it.device} without use for ${time}${it.device_watts === null ? "" : `; it draws ${watts(it.device_watts)}`}`,
	cpu_reserved: (it, time) => `has reserved ${it.reserved_cpus.toLocaleString("en")} CPUs without work for ${time}`,
};
const SHOWN = 5;

function duration(seconds) {
	const minutes = Math.floor(seconds / 60), hours = Math.floor(minutes / 60);
	return hours >= 48 ? `${Math.floor(hours / 24)} days` : hours ? `${hours} h ${minutes % 60} min` : `${minutes} min`;
}

/** The findings as elements of a list. */
export function listFindings(answer) {
	const known = answer.findings.filter(it => KINDS[it.kind]);
	const list = known.slice(0, SHOWN).map(it => {
		const item = document.createElement("li"), name = document.createElement("b");
		name.textContent = it.owner;
		item.append(name, ` ${KINDS[it.kind](it, duration(it.seconds))}`);
		return item;
	});
	if (known.length > SHOWN) {
		const item = document.createElement("li");
		item.textContent = `and ${known.length - SHOWN} more`;
		list.push(item);
	}
	return list;
}
