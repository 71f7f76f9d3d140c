/** Types of banner.js. Put the file beside yours, or name its address in `types`. */

/** What `netpath status --json` writes; the members that pages need most. */
export interface NetPathState {
  schema: 1;
  status: "satisfied" | "requiresConnection" | "unsatisfied" | null;
  reason: { code: string; message: string } | null;
  stale: boolean;
  interfaces: { name: string; index: number | null; type: "wifi" | "wired" | "cellular" | "loopback" | "other" }[];
  internet: "reachable" | "unreachable" | "portal" | "unknown";
  isExpensive: boolean | null;
  sequence: number | null;
  time: string;
  [member: string]: unknown;
}

/** What `netpathchange` tells: `online` and `state` are null while that is not known. */
export interface NetPathChange {
  online: boolean | null;
  state: NetPathState | null;
}

/** The states of a server, over one connection for all tabs of an origin. */
export declare class NetPathStream extends EventTarget {
  constructor(server?: string, options?: { credentials?: boolean });
  /** The last thing that was heard besides heartbeats. */
  readonly last: { kind: "state"; id: string; state: NetPathState } | { kind: "lost" } | undefined;
  /** Whether this tab is the one that listens. */
  readonly isLeader: boolean;
}

declare global {
  interface WindowEventMap {
    netpathchange: CustomEvent<NetPathChange>;
  }
  interface HTMLElementTagNameMap {
    "netpath-banner": HTMLElement;
  }
  var NetPathStream: typeof import("./banner").NetPathStream;
}
