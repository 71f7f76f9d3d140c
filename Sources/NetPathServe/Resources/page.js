// The status page: shows each state that the server sends, and notices when it sends nothing more.
const $ = id => document.getElementById(id);
const svgNamespace = "http://www.w3.org/2000/svg";

function element(name, attributes = {}, ...children) {
  const isDrawing = name in drawn;
  const node = isDrawing ? document.createElementNS(svgNamespace, name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children.filter(child => child !== null && child !== undefined && child !== ""));
  return node;
}
// Commands stand between backticks.
const withCommands = text => text.split("`").map((part, index) => index % 2 ? element("code", {}, part) : part);
const drawn = { svg: 1, path: 1, rect: 1, line: 1, circle: 1, polyline: 1, text: 1, title: 1, g: 1, defs: 1, pattern: 1 };

// Icons: what carries the path, and a bar across where there is none.
const shapes = {
  wifi: ["M4 12a18 18 0 0 1 24 0", "M8 17a12 12 0 0 1 16 0", "M12 22a6 6 0 0 1 8 0", "M16 26h.01"],
  wired: ["M9 4h14v11h-4v4h-6v-4H9z", "M16 19v9", "M13 8v3", "M16 8v3", "M19 8v3"],
  cellular: ["M6 27v-5", "M12 27V17", "M18 27V11", "M24 27V5"],
  other: ["M4 26V16a12 12 0 0 1 24 0v10", "M10 26V17a6 6 0 0 1 12 0v9", "M16 14v12"],
  loopback: ["M16 4a12 12 0 1 0 .01 0"],
};
const typeNames = { wifi: "Wi-Fi", wired: "cable", cellular: "mobile", other: "tunnel or virtual", loopback: "loopback" };

function icon(type, status) {
  const drawing = element("svg", { viewBox: "0 0 32 32", fill: "none", stroke: "currentColor", "stroke-width": 2.5, "stroke-linecap": "round", "stroke-linejoin": "round" });
  for (const d of shapes[type] ?? shapes.loopback) drawing.append(element("path", { d }));
  if (status === "unsatisfied") drawing.append(element("path", { d: "M4 4l24 24", "stroke-width": 3.5 }));
  if (status === "requiresConnection") drawing.append(element("path", { d: "M27 3v7M27 14h.01", "stroke-width": 3.5 }));
  return drawing;
}

// Words
const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
function duration(milliseconds) {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 1) return `${Math.round(milliseconds)} ms`;
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds % 3600 / 60)} min`;
  return `${Math.floor(seconds / 86400)} d ${Math.floor(seconds % 86400 / 3600)} h`;
}
const headlines = { satisfied: "Online", requiresConnection: "Connecting", unsatisfied: "Offline" };

function headline(state) {
  const word = headlines[state.status] ?? "Not known yet";
  const first = state.interfaces?.[0];
  if (!first || state.status !== "satisfied") return word;
  return `${word} — ${typeNames[first.type] ?? first.type} ${first.name}`;
}
function remarks(state) {
  return [
    state.stale && "This is the last known state; it cannot be confirmed now.",
    state.internet === "portal" && `A captive portal answers${state.portalURL ? `: sign in at ${state.portalURL}` : ""}.`,
    state.internet === "unreachable" && state.status === "satisfied" && "No probe reaches the internet.",
    state.supportsDNS === false && state.status === "satisfied" && "There is no name server.",
    state.isExpensive && "Traffic may cost money.",
  ].filter(Boolean).join(" ");
}

// The state
const host = document.documentElement.dataset.host;
$("host").textContent = host;
function entitle(word) { document.title = [word, host, "netpath"].filter(Boolean).join(" · "); }

let shown = "";
function show(state) {
  const status = state.status ?? "unknown";
  const isDoubtful = state.stale || state.internet === "portal" || state.internet === "unreachable";
  $("state").className = status + (isDoubtful ? " doubtful" : "");
  $("icon").replaceChildren(icon(state.interfaces?.[0]?.type ?? "loopback", status));
  $("headline").textContent = headline(state);
  $("reason").textContent = state.reason?.message ?? "No backend has a verdict.";
  $("remarks").textContent = remarks(state);
  entitle(headlines[status] ?? "?");
  // Read aloud only when it says something else.
  const spoken = `${headline(state)}. ${state.reason?.message ?? ""}`;
  if (spoken !== shown) $("live").textContent = shown = spoken;
  $("interfaces").replaceChildren(...(state.interfaces ?? []).map(interfaceCard));
  $("gateways").replaceChildren(...(state.gateways ?? []).map(gatewayCard), ...(state.nameServers ?? []).map(serverCard));
  backendRows(state);
  $("time").textContent = state.time ? new Date(state.time).toLocaleString() : "–";
  if (state.time) $("time").dateTime = state.time;
  latest = state;
}
let latest = {};

// Nothing that was shown before is so any more when the server is gone: no colour, no word of the network's.
function showUnknown() {
  $("state").className = "unknown";
  $("icon").replaceChildren(icon("loopback", "unknown"));
  $("headline").textContent = "Unknown: the server does not answer";
  for (const id of ["since", "remarks", "reason"]) $(id).textContent = "";
  $("remedies").replaceChildren();
  entitle("Unknown");
  if (shown) $("live").textContent = $("headline").textContent;
  shown = "";
}

function card(title, ...lines) {
  return element("li", {}, element("strong", {}, title), ...lines.filter(Boolean).map(line => element("small", {}, line)));
}
function interfaceCard(one) {
  return card(`${one.name} (${typeNames[one.type] ?? one.type})`, one.reason?.message, one.addresses?.join(", "));
}
function gatewayCard(one) {
  const answer = one.answers === false ? "does not answer" : one.answers === true ? "answers" : "in use";
  return card(one.address, `gateway, ${answer}`);
}
function serverCard(one) {
  return card(one.address, one.reachable === false ? "name server, cannot be reached" : "name server");
}
function backendRows(state) {
  $("backends").tBodies[0].replaceChildren(...(state.backends ?? []).map(one => {
    const differs = state.disagreements?.some(other => other.backend === one.name);
    return element("tr", {}, element("th", { scope: "row" }, one.name),
      element("td", {}, one.health), element("td", {}, `${one.status ?? "–"}${differs ? " (disagrees)" : ""}`),
      element("td", {}, one.error ?? one.reason?.message ?? one.limitations?.join("; ") ?? ""));
  }));
}

// Why, and the probes
async function explain() {
  const details = await load("details");
  if (!details) return;
  const explanation = details.explanation ?? {};
  $("remedies").replaceChildren(...(latest.status === "satisfied" ? [] : explanation.remedies ?? []).map(text => element("li", {}, ...withCommands(text))));
  $("rule").textContent = explanation.rule ?? "";
  $("evidence").replaceChildren(...(explanation.evidence ?? []).map(text => element("li", {}, text)));
  const targets = new Map((latest.probes ?? []).map(probe => [probe.target, probe]));
  for (const probe of details.probes ?? []) if (!targets.has(probe.target)) targets.set(probe.target, { target: probe.target });
  const trips = new Map((details.probes ?? []).map(probe => [probe.target, probe.roundTripMicroseconds]));
  $("probes").replaceChildren(...(targets.size ? [...targets.values()].map(probe => probeCard(probe, trips.get(probe.target) ?? [])) : [card("None", "No probe is configured.")]));
}
function probeCard(probe, trips) {
  const known = trips.filter(trip => trip !== null);
  const last = trips.at(-1) ?? probe.rttMicroseconds;
  const result = card(probe.target, [probe.outcome, last && `${(last / 1000).toFixed(1)} ms`, probe.detail].filter(Boolean).join(", "));
  if (known.length > 1) result.append(sparkline(trips, Math.max(...known)));
  return result;
}
function sparkline(trips, most) {
  const label = `Round trips of the last ${trips.length} probes, at most ${(most / 1000).toFixed(1)} ms`;
  const drawing = element("svg", { viewBox: `0 0 ${trips.length - 1} 20`, preserveAspectRatio: "none", role: "img", "aria-label": label });
  let points = [];
  const draw = () => { if (points.length) drawing.append(element("polyline", { class: "spark", points: points.join(" ") })); points = []; };
  // A gap where no answer came.
  trips.forEach((trip, index) => trip === null ? draw() : points.push(`${index},${19 - 18 * trip / most}`));
  draw();
  return drawing;
}

// The timeline
let hours = 24;
async function past() {
  pastAt = Date.now();
  const history = await load(`history?hours=${hours}`);
  if (!history) return;
  const end = Date.parse(history.until), begin = end - hours * 3600e3, width = 1000;
  const x = time => Math.max(0, Math.min(width, (time - begin) / (end - begin) * width));
  const drawing = element("svg", { viewBox: `0 0 ${width} 50`, preserveAspectRatio: "none" },
    element("rect", { x: 0, y: 0, width, height: 34, class: "seg-unknown" }));
  for (const part of [0.25, 0.5, 0.75]) drawing.append(element("line", { x1: part * width, x2: part * width, y1: 34, y2: 50, class: "tick" }));
  const down = [];
  for (const period of history.periods ?? []) {
    const from = Date.parse(period.begin), to = Date.parse(period.end), status = period.status ?? "unknown";
    const why = `${headlines[status] ?? "Unknown"}: ${period.reason?.message ?? period.unknown ?? ""} (${duration(to - from)})`;
    // What was short is there too; what is bad is higher, so that it is seen without colour.
    const height = status === "satisfied" ? 22 : 34;
    drawing.append(element("rect", { x: x(from), y: 34 - height, width: Math.max(status === "satisfied" ? 0 : 2, x(to) - x(from)), height, class: `seg-${status}` }, element("title", {}, why)));
    if (status !== "unsatisfied" && status !== "requiresConnection") continue;
    // What is less than a second apart is one outage; the reason that lasted longest within it counts.
    const last = down.at(-1), length = to - from, reason = period.reason?.message ?? "";
    if (last && from - last.to < 1000) {
      Object.assign(last, { to: Math.max(last.to, to), parts: last.parts + 1 }, length > last.longest ? { longest: length, status, reason } : {});
    } else down.push({ from, to, status, reason, longest: length, parts: 1 });
  }
  const current = (history.periods ?? []).findLastIndex((one, index, all) => one.status !== all.at(-1).status) + 1;
  const begun = history.periods?.[current];
  $("since").textContent = begun?.status && begun.status === latest.status ? `since ${current ? "" : "before "}${new Date(begun.begin).toLocaleString()}` : "";
  const day = hours >= 24;
  const labels = element("p", { class: "mark" });
  const stamp = time => new Date(time).toLocaleString([], day ? { weekday: "short", hour: "2-digit", minute: "2-digit" } : { hour: "2-digit", minute: "2-digit" });
  labels.append(...[0, 0.25, 0.5, 0.75, 1].map(part => element("span", {}, stamp(begin + part * (end - begin)))));
  $("timeline").replaceChildren(drawing, labels);
  const known = history.availability?.knownMilliseconds ?? 0, lost = history.availability?.down?.totalMilliseconds ?? 0;
  const share = known ? `${(Math.floor((1 - lost / known) * 10000) / 100).toFixed(2)} % online` : "Nothing is recorded";
  const unknown = history.availability?.unknownMilliseconds ?? 0;
  const unknownShare = unknown > 0 && known ? `; ${(unknown / (known + unknown) * 100).toFixed(2)} % of the time unknown (${duration(unknown)})` : "";
  const first = Date.parse(history.periods?.[0]?.begin ?? history.until);
  const before = known && first - begin > 60e3 ? `; nothing is known before ${stamp(first)}` : "";
  $("availability").textContent = `${share}${unknownShare}${known ? `; down ${plural(down.length, "time")}, ${duration(lost)} in all` : ""}${before}`;
  $("timeline").setAttribute("aria-label", `Timeline of the last ${$("span").textContent}: ${$("availability").textContent}`);
  $("outages").hidden = !down.length;
  $("outages").caption.textContent = down.length > 10 ? `When there was no path: the newest 10 of ${down.length} times` : "When there was no path";
  $("outages").tBodies[0].replaceChildren(...down.reverse().slice(0, 10).map(one => element("tr", {},
    element("td", {}, new Date(one.from).toLocaleString()), element("td", {}, duration(one.to - one.from)),
    element("td", {}, `${headlines[one.status]}: ${one.reason}${one.parts > 1 ? ` (${one.parts} states in a row)` : ""}`))));
}
for (const button of document.querySelectorAll("[data-hours]")) {
  button.addEventListener("click", () => {
    hours = Number(button.dataset.hours);
    $("span").textContent = hours > 24 ? "7 days" : hours > 1 ? `${hours} hours` : "hour";
    for (const other of document.querySelectorAll("[data-hours]")) other.setAttribute("aria-pressed", String(other === button));
    past();
  });
}

// The server
async function load(path) {
  try {
    const answer = await fetch(path, { signal: AbortSignal.timeout(8000) });
    // The user has to log in anew after the server was started anew.
    if (answer.status === 401) location.reload();
    return answer.ok ? await answer.json() : null;
  } catch { return null; }
}

// One stream for all tabs: banner.js has it.
let seen = "", pastAt = 0, pastTimers = [], greyTimer;
const stream = new NetPathStream();
stream.addEventListener("state", ({ detail }) => {
  hear();
  show(detail.state);
  explain();
  // What is recorded is so a moment later, and on a busy machine a longer one.
  if (detail.id !== seen) {
    for (const timer of pastTimers) clearTimeout(timer);
    pastTimers = (seen ? [400, 2500] : [0]).map(delay => setTimeout(past, delay));
  }
  seen = detail.id;
});
stream.addEventListener("heartbeat", () => {
  hear();
  if (latest.probes?.length) explain();
  if (Date.now() - pastAt > 60000) past();
});
stream.addEventListener("lost", () => {
  tell("The server does not answer; what is shown may be out of date.");
  // A server that is started anew answers sooner.
  greyTimer ??= setTimeout(showUnknown, 4000);
  seen = "";
  load("status");
});
function hear() {
  clearTimeout(greyTimer);
  greyTimer = undefined;
  tell("");
}
function tell(text) { $("connection").textContent = text; $("connection").hidden = !text; document.body.dataset.connected = String(!text); }
