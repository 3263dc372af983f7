// Which view is shown, as the address says: #/, #/jobs/ID, #/compare/ID,ID

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
  const close = view === "jobs" || view === "compare" ? watch(main, wanted, options) : jobs(main);
  shown = { path, close };
  scrollTo(0, 0);
  if (!first) main.querySelector("h1").focus(); // who came by keyboard goes on from here
}

addEventListener("hashchange", route);
route();
