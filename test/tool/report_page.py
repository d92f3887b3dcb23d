#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Opens HTML reports in headless Chromium and uses them as a person would.

  report_page.py path/to/write_reports [path/to/compare] [--pictures FOLDER]

Exit code 77: there is no Chromium (look for one with CHROMIUM=path).
"""
import base64, json, os, select, shutil, subprocess, sys, tempfile, time

CHROMIUM = (os.environ.get('CHROMIUM') or shutil.which('chromium') or shutil.which('chromium-browser')
            or shutil.which('google-chrome'))
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)
        print('FAILED:', what, flush=True)


class Browser:
    """Speaks the DevTools protocol over a pair of pipes: JSON messages that end with a zero byte."""

    def __init__(self, folder):
        there, self.out = os.pipe()
        self.into, back = os.pipe()

        def connect():  # the browser reads file 3 and writes file 4
            a, b = os.dup(there), os.dup(back)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen(
            [CHROMIUM, '--headless=new', '--no-sandbox', '--disable-gpu', '--remote-debugging-pipe',
             '--hide-scrollbars',
             '--no-first-run', '--disable-extensions', '--disable-background-networking', '--force-color-profile=srgb',
             f'--user-data-dir={folder}', 'about:blank'],
            preexec_fn=connect, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(there)
        os.close(back)
        self.buffer, self.number, self.session, self.events = b'', 0, None, []
        page = [t for t in self.call('Target.getTargets')['targetInfos'] if t['type'] == 'page'][0]
        self.session = self.call('Target.attachToTarget', targetId=page['targetId'], flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.call(domain + '.enable')

    def receive(self, until):
        while b'\0' not in self.buffer:
            ready, _, _ = select.select([self.into], [], [], max(0, until - time.monotonic()))
            part = os.read(self.into, 1 << 16) if ready else b''
            if not part:
                raise TimeoutError('the browser does not answer')
            self.buffer += part
        message, self.buffer = self.buffer.split(b'\0', 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': parameters}
        if self.session:
            message['sessionId'] = self.session
        os.write(self.out, json.dumps(message).encode() + b'\0')
        until = time.monotonic() + 120
        while True:
            answer = self.receive(until)
            if answer.get('id') == self.number:
                if 'error' in answer:
                    raise RuntimeError(f'{method}: {answer["error"]}')
                return answer['result']
            self.events.append(answer)

    def evaluate(self, expression):
        result = self.call('Runtime.evaluate', expression=expression, returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in result:
            raise RuntimeError(f'{expression}: {result["exceptionDetails"]}')
        return result['result'].get('value')

    def wait(self, expression, seconds=60):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self.evaluate(f'Boolean({expression})'):
                return True
            time.sleep(.05)
        return False

    def open(self, path, width=1280, height=800, dark=False, scale=1):
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=scale,
                  mobile=width < 600)
        self.call('Emulation.setEmulatedMedia',
                  features=[{'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}])
        self.events.clear()
        self.call('Page.navigate', url='file://' + os.path.realpath(path))
        return self.wait('document.readyState === "complete" && location.protocol === "file:"')

    def key(self, key, text=None):
        codes = {'Tab': 9, 'Enter': 13, 'Escape': 27, 'ArrowLeft': 37, 'ArrowRight': 39}
        extra = {'text': text} if text else {}
        code = codes.get(key, ord(key) if len(key) == 1 else 0)
        self.call('Input.dispatchKeyEvent', type='keyDown' if text else 'rawKeyDown', key=key,
                  windowsVirtualKeyCode=code, **extra)
        self.call('Input.dispatchKeyEvent', type='keyUp', key=key, windowsVirtualKeyCode=code)

    def type(self, text):
        for letter in text:
            self.key(letter, letter)

    def mouse(self, kind, x, y, **more):
        self.call('Input.dispatchMouseEvent', type=kind, x=x, y=y, **more)

    def picture(self, path, whole=False):
        size = {'captureBeyondViewport': True} if whole else {}
        with open(path, 'wb') as f:
            f.write(base64.b64decode(self.call('Page.captureScreenshot', format='png', **size)['data']))

    def errors(self):
        """What went wrong in the page since it was opened: exceptions, console messages, requests for other files."""
        self.evaluate('new Promise(done => setTimeout(done, 30))')
        found = []
        for event in self.events:
            method, parameters = event.get('method'), event.get('params', {})
            if method == 'Runtime.exceptionThrown':
                found.append(json.dumps(parameters['exceptionDetails'])[:600])
            elif method == 'Runtime.consoleAPICalled' and parameters['type'] in ('error', 'warning', 'assert'):
                found.append(json.dumps(parameters['args'])[:300])
            elif method == 'Log.entryAdded' and parameters['entry']['level'] in ('error', 'warning'):
                found.append(parameters['entry']['text'])
            elif method == 'Network.requestWillBeSent' and parameters.get('type') != 'Document':
                found.append('a request for ' + parameters['request']['url'][:100])
        return found

    def close(self):
        try:
            self.call('Browser.close')
        except (RuntimeError, TimeoutError, OSError):
            self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()


# How many different colours the canvas in an element has; 0 without one.
COLOURS = '''(selector => {
  const canvas = document.querySelector(selector + " canvas");
  if (!canvas || !canvas.width || !canvas.height) return 0;
  const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height), seen = new Set();
  for (let i = 0; i < data.length; i += 4) if (data[i + 3]) seen.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
  return seen.size;
})'''
WINDOW = 'document.querySelector(".timeline").dataset.window.split(" ").map(Number)'


# Boxes of tiles that are alone in their row beside an empty place, and what has a scroll bar without a reason.
LONELY = '''(() => {
  const rows = new Map(), cards = document.querySelector(".cards"), right = cards.getBoundingClientRect().right;
  for (const tile of cards.children) {
    const box = tile.getBoundingClientRect();
    rows.set(box.top, Math.max(rows.get(box.top) ?? 0, box.right));
  }
  return [...rows.values()].filter(end => end < right - 2).length;
})()'''
IDLE_BARS = '''[...document.querySelectorAll("*")]
  .filter(one => /auto|scroll/.test(getComputedStyle(one).overflow)).filter(one =>
  one.scrollWidth > one.clientWidth && [...one.children].every(child => child.offsetWidth <= one.clientWidth) ||
  one.scrollHeight > one.clientHeight && [...one.children].every(child => child.offsetHeight <= one.clientHeight))
  .map(one => one.getAttribute("aria-labelledby") || one.className)'''
# Pairs of boxes of the graph, other than heads of open groups, that lie on each other.
OVERLAPS = '''(() => {
  const boxes = [...document.querySelectorAll(".groups .box:not(.head)")].map(box => box.getBoundingClientRect());
  let pairs = 0;
  boxes.forEach((a, i) => boxes.slice(0, i).forEach(b => {
    pairs += a.left < b.right - .1 && b.left < a.right - .1 && a.top < b.bottom - .1 && b.top < a.bottom - .1;
  }));
  return pairs;
})()'''
MOST_IN_GROUP = 40
# Ends when what has changed is laid out and painted, and what looks for that has been told.
PAINTED = 'new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))'


def show_all(browser):
    """Scrolls through the page, so that all charts are drawn."""
    browser.evaluate(f'''(async () => {{
      for (let y = 0; y < document.documentElement.scrollHeight; y += 500) {{
        scrollTo({{top: y, behavior: "instant"}});
        await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
      }}
      scrollTo({{top: 0, behavior: "instant"}});
      await {PAINTED};
    }})()''')


def use(browser, name):
    """The Gantt chart by keyboard, search, pointer."""
    browser.evaluate('document.querySelector(".timeline").scrollIntoView({block: "center", behavior: "instant"})')
    browser.evaluate('document.querySelector(".timeline").focus()')
    check(browser.evaluate('document.activeElement === document.querySelector(".timeline")'),
          f'{name}: the chart takes the focus')

    def window_after(key, text=None):
        browser.key(key, text)
        browser.evaluate(PAINTED)
        return browser.evaluate(WINDOW)
    check(browser.evaluate(WINDOW) == [0, 1], f'{name}: everything is in view at first')
    near = window_after('+', '+')
    check(abs(near[1] - near[0] - .6) < 1e-6, f'{name}: + zooms in: {near}')
    right = window_after('ArrowRight')
    check(right[0] > near[0] and abs(right[1] - right[0] - .6) < 1e-6, f'{name}: → pans: {right}')
    check(window_after('ArrowLeft')[0] < right[0], f'{name}: ← pans back')
    check(window_after('-', '-')[0] <= near[0], f'{name}: - zooms out')
    check(window_after('0', '0') == [0, 1], f'{name}: 0 shows everything')
    x, y, width, height = browser.evaluate(
        '(box => [box.left, box.top, box.width, box.height])'
        '(document.querySelector(".timeline").getBoundingClientRect())')
    browser.mouse('mouseWheel', x + width / 2, y + height / 3, deltaX=0, deltaY=-400, modifiers=2)
    check(browser.wait(f'(([a, b]) => b - a < .99)({WINDOW})', 10), f'{name}: ctrl + wheel zooms')
    before = browser.evaluate(WINDOW)
    browser.mouse('mousePressed', x + width / 2, y + height / 3, button='left', clickCount=1)
    browser.mouse('mouseMoved', x + width / 2 + 80, y + height / 3, button='left', buttons=1)
    browser.mouse('mouseReleased', x + width / 2 + 80, y + height / 3, button='left', clickCount=1)
    check(browser.wait(f'{WINDOW}[0] < {before[0]}', 10), f'{name}: dragging pans')
    window_after('0', '0')

    wanted, op = browser.evaluate('(run => { const i = Math.floor(run.n * .6); return [run.name(i).slice(0, 40), i]; })'
                                  '(typeof theRun === "object" ? theRun : readRun(data.gantts[0]))')
    browser.key('/', '/')
    browser.evaluate(PAINTED)
    check(browser.evaluate('document.activeElement.type') == 'search', f'{name}: / goes to the search')
    browser.call('Input.insertText', text=wanted)
    check(browser.wait('Number(document.querySelector(".timeline").dataset.selected) >= 0', 20),
          f'{name}: the search finds {wanted!r}')
    check(' of ' in browser.evaluate('document.querySelector(".matches").textContent'), f'{name}: the search counts')
    check(browser.evaluate('document.querySelector(".found").textContent.length') > 3, f'{name}: the op is described')
    browser.evaluate(
        '(field => { field.value = "no such op"; field.dispatchEvent(new Event("input")); })'
        '(document.querySelector("input[type=search]"))')
    check(browser.evaluate('document.querySelector(".matches").textContent') == 'none',
          f'{name}: what is not there is not found')
    browser.evaluate('document.querySelector(".timeline").focus()')
    window_after('0', '0')


def use_groups(browser, name, ops):
    """The graph as groups: by pointer and by keyboard."""
    def boxes():
        return browser.evaluate('document.querySelectorAll(".groups .box").length')

    def expanded(selector):
        return browser.evaluate(f'document.querySelector(`{selector}`)?.ariaExpanded')
    check(1 < boxes() <= MOST_IN_GROUP + 2, f'{name}: a bounded number of boxes at first: {boxes()}')
    check(browser.evaluate(OVERLAPS) == 0, f'{name}: no boxes on top of each other')
    check(browser.evaluate('document.querySelectorAll(".groups .line").length') > 0,
          f'{name}: there are lines between the boxes')
    told = browser.evaluate('''[...document.querySelectorAll(".groups [aria-level='1']")].reduce((sum, box) =>
      sum + (box.classList.contains("leaf") ? 1 :
        +/([\\d,]+) ops?,/.exec(box.querySelector("small").textContent)[1].replaceAll(",", "")), 0)''')
    check(told == ops, f'{name}: the outermost boxes hold all ops: {told} of {ops}')
    check(browser.evaluate('[...document.querySelectorAll(".groups .group i")]'
                           '.every(bar => bar.style.background.includes("linear-gradient("))'),
          f'{name}: groups have bars of their devices')
    before = boxes()
    largest = browser.evaluate('''(() => {
      const ops = box => +/[\\d,]+/.exec(box.querySelector("small").textContent)[0].replaceAll(",", "");
      const box = [...document.querySelectorAll(".groups .group")].reduce((a, b) => ops(b) > ops(a) ? b : a);
      box.scrollIntoView({block: "center", inline: "center", behavior: "instant"});
      return box.dataset.box;
    })()''')
    it = f'.groups [data-box="{largest}"]'
    x, y = browser.evaluate(
        f'(box => [box.left + 9, box.top + 9])(document.querySelector(`{it}`).getBoundingClientRect())')
    browser.mouse('mouseMoved', x, y)
    check(browser.evaluate('document.getElementById("tip").textContent.includes("click to open")'),
          f'{name}: a group says what it is')
    for kind in ('mousePressed', 'mouseReleased'):
        browser.mouse(kind, x, y, button='left', clickCount=1)
    check(expanded(it) == 'true', f'{name}: a click opens a group')
    check(before < boxes() <= before + MOST_IN_GROUP,
          f'{name}: opening shows what is in it, and no more: {before}, then {boxes()}')
    check(browser.evaluate(OVERLAPS) == 0, f'{name}: no boxes on top of each other when a group is open')
    check(browser.evaluate(f'document.activeElement === document.querySelector(`{it}`)'),
          f'{name}: the group keeps the focus')
    browser.key('ArrowDown')
    inside = browser.evaluate('document.activeElement.dataset.box')
    check(inside not in (None, largest), f'{name}: ↓ goes to the next box')
    browser.key('ArrowUp')
    check(browser.evaluate('document.activeElement.dataset.box') == largest, f'{name}: ↑ goes back')
    browser.key('ArrowLeft')
    check(expanded(it) == 'false' and boxes() == before, f'{name}: ← closes the group')
    browser.key('ArrowRight')
    check(expanded(it) == 'true', f'{name}: → opens it')
    browser.evaluate(f'document.querySelector(`{it}`).click()')
    check(expanded(it) == 'false' and boxes() == before, f'{name}: a click closes it again')
    check(browser.evaluate('document.querySelectorAll(".groups .box[tabindex=\\"0\\"]").length') == 1,
          f'{name}: one stop of Tab for all boxes')
    browser.evaluate('theGantt.select(0, false)')
    check(browser.evaluate('document.querySelectorAll(".groups .chosen").length') == 1,
          f'{name}: where a selected op is, is marked')
    browser.evaluate('theGantt.select(-1, false)')


def placed(browser, folder, name, pictures):
    path = os.path.join(folder, name + '.html')
    check(browser.open(path), f'{name}: opens')
    check(browser.wait('document.documentElement.dataset.ready', 30), f'{name}: gets ready')
    load = browser.evaluate('performance.timing.loadEventEnd - performance.timing.navigationStart')
    ready = float(browser.evaluate('document.documentElement.dataset.ready') or 'nan')
    print(f'{name}: {os.path.getsize(path) / 1e6:.2f} MB, loaded in {load} ms, of that {ready:.0f} ms for the chart',
          flush=True)
    show_all(browser)
    ops = browser.evaluate('theRun.n')
    check(browser.evaluate('document.title') != 'broken', f'{name}: no name is run as a script')
    check(browser.evaluate('document.querySelectorAll("h1").length') == 1, f'{name}: one heading')
    for section in ('run-0', 'devices', 'traffic', 'graph'):
        check(browser.evaluate(f'document.getElementById("{section}") !== null'), f'{name}: section {section}')
    check(browser.evaluate('[...document.querySelectorAll("table")].every(t => t.tHead.rows[0].cells.length === '
                           '(t.tBodies[0].rows[0]?.cells.length ?? t.tHead.rows[0].cells.length))'),
          f'{name}: rows have as many cells as heads')
    check(browser.evaluate('document.documentElement.scrollWidth <= innerWidth'),
          f'{name}: nothing sticks out to the right')
    text = browser.evaluate('document.body.innerText')
    check('-0.0' not in text and '-0 %' not in text, f'{name}: no zero has a sign')
    check(browser.evaluate('!/\\bdocs\\/|\\.md\\b/.test(document.body.innerText)'),
          f'{name}: no files that the reader does not have')
    rows = browser.evaluate(
        '[...document.querySelectorAll("#strategies ~ .scroll tbody tr")].map(row => row.cells[0].innerText)')
    check(not rows or sum('this plan' in row for row in rows) == 1,
          f'{name}: the plan is in the table of strategies once: {rows}')
    if rows:
        own = browser.evaluate('document.querySelector("tr.best").cells[4].innerText')
        tile = browser.evaluate(
            '[...document.querySelectorAll(".cards div")].find(one => one.innerText.startsWith("Peak memory"))'
            '?.querySelector("b").innerText ?? "–"')
        check(own == tile, f'{name}: one peak memory: {tile} in the tile, {own} in the table')
    grouped = browser.evaluate('document.querySelector(".groups") !== null')
    check(grouped == (ops > 500), f'{name}: graphs of many ops are drawn as groups')
    if grouped:
        use_groups(browser, name, ops)
    for chart in ('.timeline', '.memory', '.graph')[:2 if grouped else 3] if ops else ():
        if browser.evaluate(f'document.querySelector("{chart}") !== null'):
            check(browser.evaluate(f'{COLOURS}("{chart}")') > 4, f'{name}: {chart} is drawn')
    if name == 'devices':
        check(browser.evaluate(f'{COLOURS}(".traffic-map")') > 4, f'{name}: the heat map is drawn')
    check(browser.evaluate('document.querySelector(".alert") !== null') == (name == 'invalid'),
          f'{name}: an alert if and only if it is invalid')
    if ops:
        use(browser, name)
        if browser.evaluate('document.querySelector(".path.toggle") !== null'):
            browser.evaluate('document.querySelector(".path.toggle").click()')
            check(browser.evaluate('document.querySelector(".path.toggle").ariaPressed') == 'true',
                  f'{name}: the path can be shown')
            browser.evaluate('document.querySelector("button[data-op]")?.click()')
            check(browser.evaluate('document.querySelector("button[data-op]")?.dataset.op === '
                                   'document.querySelector(".timeline").dataset.selected'),
                  f'{name}: names in tables lead to the chart')
    browser.evaluate('document.activeElement.blur(); scrollTo({top: 0, behavior: "instant"})')
    stops = []
    for _ in range(6):
        browser.key('Tab')
        stops.append(browser.evaluate('[[...document.querySelectorAll("*")].indexOf(document.activeElement), '
                                      'getComputedStyle(document.activeElement).outlineStyle]'))
    check(len({at for at, _ in stops}) == 6, f'{name}: Tab goes from one to the next: {stops}')
    check(all(style != 'none' for _, style in stops), f'{name}: one sees where the focus is: {stops}')
    light = browser.evaluate('getComputedStyle(document.body).backgroundColor')
    browser.evaluate('document.getElementById("theme").click()')
    dark = browser.evaluate('getComputedStyle(document.body).backgroundColor')
    check(light != dark, f'{name}: the button changes the colours')
    errors = browser.errors()
    check(not errors, f'{name}: {errors[:3]}')

    check(browser.open(path, dark=True) and browser.wait('document.documentElement.dataset.ready', 30),
          f'{name}: opens in the dark')
    check(browser.evaluate('getComputedStyle(document.body).backgroundColor') == dark, f'{name}: dark as the system')
    for width in (1400, 1000, 800, 390):
        check(browser.open(path, width=width), f'{name}: opens')
        check(browser.evaluate(LONELY) == 0, f'{name}: no tile is alone in its row at {width} pixels')
        show_all(browser)
        bars = browser.evaluate(IDLE_BARS)
        check(bars == [], f'{name}: scroll bars where nothing scrolls at {width} pixels: {bars}')
    check(browser.open(path, width=390, height=844), f'{name}: opens on a phone')
    show_all(browser)
    check(browser.evaluate('document.documentElement.scrollWidth <= innerWidth'), f'{name}: fits a phone')
    errors = browser.errors()
    check(not errors, f'{name} on a phone: {errors[:3]}')
    if pictures:
        for kind, more in (('light', {}), ('dark', {'dark': True}), ('phone', {'width': 390, 'height': 844})):
            browser.open(path, **more)
            browser.wait('document.documentElement.dataset.ready')
            show_all(browser)
            browser.picture(os.path.join(pictures, f'{name}.{kind}.png'), whole=True)


def compared(browser, folder, exe, pictures):
    path = os.path.join(folder, 'compare.html')
    made = subprocess.run([exe, '--workload', 'zoo:mnist_conv,zoo:dynamic_rnn', '--platform', 'preset:paper_like_10',
                           '--partition',
                           'hash,heft', '--schedule', 'fifo,path_completion_time', '--repeat', '2', '--html', path],
                          capture_output=True, text=True)
    check(made.returncode == 0, f'compare writes a report: {made.stderr[:300]}')
    if made.returncode:
        return
    check(browser.open(path), 'compare: opens')
    show_all(browser)
    check(browser.wait('document.querySelector(".timeline canvas")', 20), 'compare: has a Gantt chart')
    check(browser.evaluate(f'{COLOURS}(".timeline")') > 4, 'compare: the Gantt chart is drawn')
    check(browser.evaluate(f'{COLOURS}(".bars")') > 4, 'compare: bars are drawn')
    check(browser.evaluate(f'{COLOURS}(".profile")') > 4, 'compare: the profile is drawn')
    use(browser, 'compare')
    browser.evaluate('document.getElementById("theme").click()')
    errors = browser.errors()
    check(not errors, f'compare: {errors[:3]}')
    if pictures:
        browser.picture(os.path.join(pictures, 'compare.png'), whole=True)


def main(arguments):
    pictures = None
    if '--pictures' in arguments:
        at = arguments.index('--pictures')
        pictures = arguments[at + 1]
        os.makedirs(pictures, exist_ok=True)
        del arguments[at:at + 2]
    if not arguments:
        sys.exit(__doc__)
    if not CHROMIUM:
        print('skipped: there is no Chromium')
        sys.exit(77)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        subprocess.run([os.path.realpath(arguments[0]), folder], check=True)
        browser = Browser(os.path.join(folder, 'profile'))
        try:
            for page in sorted(name[:-5] for name in os.listdir(folder) if name.endswith('.html')):
                placed(browser, folder, page, pictures)
            if len(arguments) > 1:
                compared(browser, folder, os.path.realpath(arguments[1]), pictures)
        finally:
            browser.close()
    print(f'{len(failures)} failed' if failures else 'all passed')
    sys.exit(bool(failures))


main(sys.argv[1:])
