// A worker for pages that are opened from a folder, where browsers start none: the search of the site runs in a hidden frame.
// It has what the theme uses of a worker: messages in both directions, importScripts and an end.
(() => {
  if (location.protocol !== "file:") return;

  class FrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.document.write("<!doctype html><body></body>"); // else Firefox puts another empty page in its place
      inside.document.close();
      // Scripts of a worker are loaded one after the other, and what follows waits for them.
      inside.importScripts = (...addresses) =>
        addresses.reduce((loaded, address) => loaded.then(() => loadScript(inside.document, address)), Promise.resolve());
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.started = loadScript(inside.document, new URL(url, location.href).href);
    }

    postMessage(data) {
      this.started.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  }

  function loadScript(page, address) {
    return new Promise((done, fail) => {
      const script = page.createElement("script");
      script.src = address;
      script.onload = done;
      script.onerror = fail;
      page.body.append(script);
    });
  }

  window.Worker = FrameWorker;
})();
