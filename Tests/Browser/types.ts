// A page in TypeScript that uses the banner; compiled, and not run.
/// <reference path="../../Sources/NetPathServe/Resources/banner.d.ts" />
import type { NetPathState } from "../../Sources/NetPathServe/Resources/banner";

window.addEventListener("netpathchange", (event) => {
  const { online, state } = event.detail;
  const name: string | undefined = state?.interfaces[0]?.name;
  if (online === false) console.log(state?.reason?.message, name);
  // @ts-expect-error: nobody may know.
  const certain: boolean = online;
});

const stream = new NetPathStream("http://127.0.0.1:6387/", { credentials: true });
if (stream.last?.kind === "state") {
  const state: NetPathState = stream.last.state;
  console.log(state.status, state["via"], stream.last.id);
}
const banner: HTMLElement = document.createElement("netpath-banner");
document.body.append(banner, String(stream.isLeader));
