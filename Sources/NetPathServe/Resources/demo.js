// Shows what the banner tells a page.
const show = detail => {
  document.getElementById("online").textContent = String(navigator.onLine);
  if (detail) document.getElementById("event").textContent = `${detail.state?.status ?? "unknown"}: ${detail.state?.reason?.message ?? ""}`;
};
document.getElementById("tag").textContent = `<script src="${new URL("banner.js", location.href)}" defer></script>`;
navigator.locks?.query().then(locks => {
  document.getElementById("role").textContent = locks.held?.length ? "shares one stream with the other tabs" : "polls";
});
addEventListener("netpathchange", event => show(event.detail));
show();
