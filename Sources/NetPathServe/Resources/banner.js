// A banner that slides in while there is no network path, for any page: <script src="…/banner.js" defer></script>.
// It holds no data; what it shows comes from /status and /events of the server that it was loaded from.
(() => {
  "use strict";
  const script = document.currentScript;
  const base = new URL(".", script?.src ?? location.href).href;
  const withCredentials = script?.hasAttribute("data-credentials") ?? false;

  // The states of a server, over one connection for all tabs of an origin: the tab that holds the lock listens, and tells
  // the others. A browser opens six connections to a server over HTTP/1.1, and each stream would take one.
  class NetPathStream extends EventTarget {
    #base; #credentials; #channel; #source; #retry; #heardAt = Date.now(); #last; #isLeader = false;

    constructor(server = base, { credentials = withCredentials } = {}) {
      super();
      this.#base = server;
      this.#credentials = credentials;
      if (!navigator.locks || !globalThis.BroadcastChannel) { this.#poll(); return; }
      const name = `netpath ${server}`;
      this.#channel = new BroadcastChannel(name);
      this.#channel.onmessage = ({ data }) => {
        if (data.ask) { if (this.#isLeader && this.#last) this.#channel.postMessage(this.#last); } else this.#take(data);
      };
      this.#channel.postMessage({ ask: true });
      // Held until the tab is closed; then the next one gets it.
      navigator.locks.request(name, () => { this.#isLeader = true; this.#listen(); return new Promise(() => {}); }).catch(() => this.#poll());
      const check = () => { if (this.#isLeader && Date.now() - this.#heardAt > 45000) this.#listen(); };
      setInterval(check, 15000);
      // After sleep a connection may look open for minutes.
      document.addEventListener("visibilitychange", () => { if (!document.hidden) check(); });
      addEventListener("online", check);
    }

    get last() { return this.#last; }
    get isLeader() { return this.#isLeader; }

    #listen() {
      this.#source?.close();
      clearTimeout(this.#retry);
      this.#heardAt = Date.now();
      const source = this.#source = new EventSource(new URL("events", this.#base), { withCredentials: this.#credentials });
      source.addEventListener("status", event => this.#tell({ kind: "state", id: event.lastEventId, state: JSON.parse(event.data) }));
      source.addEventListener("heartbeat", () => this.#tell({ kind: "heartbeat" }));
      source.onerror = () => {
        this.#tell({ kind: "lost" });
        // Browsers give up where something else than the server answered.
        if (source.readyState === EventSource.CLOSED) this.#retry = setTimeout(() => this.#listen(), 2000);
      };
    }

    #tell(message) {
      this.#heardAt = Date.now();
      this.#channel?.postMessage(message);
      this.#take(message);
    }

    #take(message) {
      if (message.kind !== "heartbeat") this.#last = message;
      this.dispatchEvent(new CustomEvent(message.kind, { detail: message }));
    }

    async #poll() {
      try {
        const answer = await fetch(new URL("status", this.#base), { credentials: this.#credentials ? "include" : "same-origin", signal: AbortSignal.timeout(8000) });
        if (!answer.ok) throw new Error(answer.status);
        const state = await answer.json();
        this.#take({ kind: "state", id: `${state.sequence}`, state });
      } catch { this.#take({ kind: "lost" }); }
      setTimeout(() => this.#poll(), 15000);
    }
  }
  globalThis.NetPathStream = NetPathStream;
  if (script?.hasAttribute("data-manual")) return;

  // What navigator.onLine says on this page, and the events that go with it. While that is not known, the browser's own word.
  const stream = new NetPathStream();
  const native = Object.getOwnPropertyDescriptor(Navigator.prototype, "onLine")?.get;
  const nativeOnLine = () => native ? native.call(navigator) : true;
  let online = null, state = null;
  Object.defineProperty(navigator, "onLine", { configurable: true, get: () => online ?? nativeOnLine() });
  for (const kind of ["online", "offline"]) {
    addEventListener(kind, event => {
      if (event.isTrusted && online !== null && online !== (kind === "online")) event.stopImmediatePropagation();
    }, true);
  }
  function change(newState) {
    const before = navigator.onLine;
    state = newState;
    online = !state?.status ? null : state.status === "satisfied";
    dispatchEvent(new CustomEvent("netpathchange", { detail: { online, state } }));
    if (navigator.onLine !== before) dispatchEvent(new Event(navigator.onLine ? "online" : "offline"));
    for (const banner of banners) banner.update();
  }
  stream.addEventListener("state", ({ detail }) => change(detail.state));
  let hasHeard = false;
  stream.addEventListener("state", () => { hasHeard = true; }, { once: true });
  stream.addEventListener("lost", () => { change(null); if (!hasHeard) advise(); });

  // A browser says of an origin that is not allowed only that something failed.
  let hasAdvised = false;
  async function advise() {
    if (hasAdvised || new URL(base).origin === location.origin) return;
    hasAdvised = true;
    // Whether the server is there: its script may be read by every page.
    try { await fetch(new URL("banner.js", base), { cache: "no-store" }); } catch { hasAdvised = false; return; }
    try { await fetch(new URL("healthz", base)); return; } catch {
      console.warn(`netpath: ${base} does not let pages of ${location.origin} read it: add "${location.origin}" to serve.allowedOrigins of its configuration.`);
    }
  }

  // The banner
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`
    :host { position: fixed; inset: 0 0 auto 0; z-index: 2147483647; display: block; pointer-events: none; font: 16px/1.4 system-ui, sans-serif; }
    div { display: flex; gap: .8rem; align-items: center; padding: .7rem 1rem; color: #fff; background: #a3221a; transform: translateY(-110%); visibility: hidden; pointer-events: auto; }
    div.pending { background: #7a4b00; } div.back { background: #12663a; }
    div.shown { transform: none; visibility: visible; }
    span { flex: 1; overflow-wrap: anywhere; }
    button { font: inherit; color: inherit; background: none; border: 1px solid currentColor; border-radius: .4rem; padding: .15rem .7rem; cursor: pointer; }
    button:focus-visible { outline: 3px solid #fff; outline-offset: 2px; }
    @media (prefers-reduced-motion: no-preference) { div { transition: transform .25s ease, visibility .25s; } }
    @media print { :host { display: none; } }`);
  const banners = new Set();
  class NetPathBanner extends HTMLElement {
    #bar = document.createElement("div");
    #text = document.createElement("span");
    #wasDown = false;
    #timer;

    constructor() {
      super();
      const root = this.attachShadow({ mode: "open" });
      root.adoptedStyleSheets = [sheet];
      const hide = document.createElement("button");
      hide.type = "button";
      hide.textContent = this.getAttribute("hide-label") ?? "Hide";
      hide.addEventListener("click", () => this.#bar.classList.remove("shown"));
      this.#text.setAttribute("role", "status");
      this.#bar.append(this.#text, hide);
      root.append(this.#bar);
    }
    connectedCallback() { banners.add(this); this.update(); }
    disconnectedCallback() { banners.delete(this); }

    update() {
      const isDown = online === false;
      clearTimeout(this.#timer);
      if (isDown) {
        const pending = state.status === "requiresConnection";
        this.#show(pending ? "pending" : "", `${pending ? "Connecting" : "Offline"}: ${state.reason?.message ?? ""}`);
      } else if (this.#wasDown && online) {
        this.#show("back", "Back online");
        this.#timer = setTimeout(() => this.#bar.classList.remove("shown"), 3000);
      } else this.#bar.classList.remove("shown");
      this.#wasDown = isDown;
    }
    #show(kind, text) {
      this.#bar.className = `${kind} shown`;
      if (this.#text.textContent !== text) this.#text.textContent = text;
    }
  }
  if (!customElements.get("netpath-banner")) customElements.define("netpath-banner", NetPathBanner);
  const insert = () => { if (!document.querySelector("netpath-banner")) document.body.append(document.createElement("netpath-banner")); };
  if (document.body) insert(); else addEventListener("DOMContentLoaded", insert);
})();
