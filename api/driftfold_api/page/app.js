// Which view is shown, as the address says: #/, #/jobs/ID, #/compare/ID,ID, #/groups/ID, #/health

import { group } from "./group.js";
import { health } from "./health.js";
import { jobs } from "./jobs.js";
import { watch } from "./watch.js";

const main = document.getElementById("main");
let shown = null; // { path, close }

function route() {
  const [path, query] = location.hash.replace(/^#/, "").split("?");
  if (shown?.path === path) return;
  const first = shown === null;
  shown?.close();
  main.replaceChildren();
  const options = new URLSearchParams(query);
  const [, view, ids = ""] = path.split("/");
  const wanted = decodeURIComponent(ids).split(",").filter(Boolean);
  const views = { jobs: () => watch(main, wanted, options), compare: () => watch(main, wanted, options), groups: () => group(main, wanted[0] ?? ""), health: () => health(main) };
  const close = (views[view] ?? (() => jobs(main)))();
  shown = { path, close };
  scrollTo(0, 0);
  if (!first) main.querySelector("h1").focus(); // who came by keyboard goes on from here
}

addEventListener("hashchange", route);
route();
