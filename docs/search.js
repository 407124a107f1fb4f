// What the search of the built site finds: node docs/search.js SITE < queries, one a line; prints a JSON list of addresses for each.
//
// Runs the theme's own worker, so that scores are those of the site.
const fs = require("fs"), path = require("path"), vm = require("vm");

const site = process.argv[2];
const folder = path.join(site, "assets", "javascripts", "workers");
const worker = fs.readdirSync(folder).find((name) => name.startsWith("search.") && name.endsWith(".js"));
const index = JSON.parse(fs.readFileSync(path.join(site, "search", "search_index.json"), "utf-8"));
const queries = fs.readFileSync(0, "utf-8").split("\n").filter((line) => line.trim());

const listeners = [];
const waiting = [];
const self = {
  addEventListener: (kind, listener) => kind === "message" && listeners.push(listener),
  postMessage: (message) => waiting.shift()(message),
  importScripts: () => {},
  location: { href: "http://site/assets/javascripts/workers/" + worker },
};
const context = vm.createContext(Object.assign(self, { self, console, URL, setTimeout, structuredClone }));
vm.runInContext(fs.readFileSync(path.join(folder, worker), "utf-8"), context);

const send = (message) =>
  new Promise((resolve) => {
    waiting.push(resolve);
    listeners.forEach((listener) => listener({ data: message }));
  });

(async () => {
  await send({ type: 0, data: { config: index.config, docs: index.docs, options: { suggest: false } } });
  for (const query of queries) {
    const found = await send({ type: 2, data: query });
    console.log(JSON.stringify(found.data.items.slice(0, 5).map((group) => group[0].location)));
  }
})();
