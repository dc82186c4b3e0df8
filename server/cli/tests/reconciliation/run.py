#!/usr/bin/env python3
"""Reconciles with localstripe, a stand-in for Stripe that we did not write.

It installs localstripe (requirements.txt; pip has to reach its registry) into an environment of its own in a temporary
folder, has it send webhooks to `restante serve`, kills the server with SIGKILL for half of them, kills
`restante reconcile run` again and again wherever it just is, and wants exactly what localstripe lists to be here at
the end, each once. RESTANTE_BIN names the program, RESTANTE_TEST_EVENTS and RESTANTE_TEST_KILLS say how much.
The last line is `N passed, N failed, N skipped`.

What localstripe's /v1/events does otherwise than Stripe's documentation says: it lists the oldest first, and begins
anew behind an id that it does not know; it knows no `types[]` and no connected accounts. None of that is used here.
What these leave open, such as an unknown id or parameter, a wrong key, limits of a page, is tried against a strict
stand-in written from the documentation: server/cli/tests/blackbox/support/stripe.rs. Its webhooks are signed as
Stripe's are, and sent once, whatever the answer.
"""
import json, os, pathlib, random, re, shutil, socket, sqlite3, subprocess, sys, tempfile, time, urllib.error, urllib.parse, urllib.request, venv

HERE = pathlib.Path(__file__).resolve().parent
BIN = str(pathlib.Path(os.environ.get("RESTANTE_BIN", "target/debug/restante")).resolve())
EVENTS = int(os.environ.get("RESTANTE_TEST_EVENTS", "1000"))
KILLS = int(os.environ.get("RESTANTE_TEST_KILLS", "50"))
KEY = "sk_test_12345"           # localstripe takes any that looks like one
SECRET = "whsec_of_the_reconciliation"
WAIT_SECONDS = 120


def until(what, look):
    """Looks until there is something to see."""
    end = time.monotonic() + WAIT_SECONDS
    while not (seen := look()):
        if time.monotonic() > end:
            raise RuntimeError(f"this did not come: {what}")
        time.sleep(0.1)
    return seen

def ask(url, key=None, form=None, body=None, method=None):
    data, headers = None, {"Authorization": f"Bearer {key}"} if key else {}
    if form is not None:
        data = urllib.parse.urlencode(form).encode()
    if body is not None:
        data, headers["Content-Type"] = json.dumps(body).encode(), "application/json"
    request = urllib.request.Request(url, data=data, headers=headers, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        text = answer.read()
        return json.loads(text) if text.strip().startswith((b"{", b"[")) else text

def reached(url):
    try:
        urllib.request.urlopen(url, timeout=5).close()
        return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False

def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Test:
    def __init__(self, work):
        self.work, self.processes = work, []
        self.data = work / "data"
        self.env = {k: v for k, v in os.environ.items() if not k.startswith("RESTANTE_")} | {
            "RESTANTE_DATA_DIR": str(self.data), "RESTANTE_ALLOW_VOLATILE": "1", "RESTANTE_OUTBOUND_ALLOW_CIDRS": "127.0.0.0/8"}

    def start(self, name, command, env=None):
        log = open(self.work / f"{name}.log", "ab")
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env, cwd=self.work)
        self.processes.append(process)
        return process

    def stripe(self):
        venv.create(self.work / "python", with_pip=True)
        python = str(self.work / "python" / "bin" / "python")
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement",
                        HERE / "requirements.txt"], check=True)
        self.stripe_url = f"http://127.0.0.1:{(port := free_port())}"
        env = os.environ | {"TMPDIR": str(self.work)}
        self.start("localstripe", [python, "-m", "localstripe", "--port", str(port), "--from-scratch"], env)
        until("localstripe", lambda: reached(self.stripe_url))

    def serve(self):
        self.server = self.start("restante", [BIN, "serve"], self.env | {"RESTANTE_LISTEN": f"127.0.0.1:{self.port}"})
        until("the server", lambda: reached(self.url + "/readyz"))

    def begin(self):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        made = subprocess.run([BIN, "bootstrap", "--tenant", "acme", "--email", "owner@acme.test", "--password-stdin", "--json"],
                              input="correct horse battery staple", env=self.env, cwd=self.work, check=True, capture_output=True, text=True)
        self.key = json.loads(made.stdout)["api_key"]
        self.serve()
        made = ask(self.url + "/v1/endpoints", self.key, body={"name": "localstripe", "provider": "stripe", "secrets": [SECRET]})
        self.endpoint = made["id"]
        ask(self.stripe_url + "/_config/webhooks/restante", KEY, body={"url": self.url + urllib.parse.urlsplit(made["url"]).path, "secret": SECRET})
        asked = {"base_url": self.stripe_url, "credentials": {"api_key": KEY}}
        ask(f"{self.url}/v1/endpoints/{self.endpoint}/reconciliation", self.key, body=asked, method="PUT")

    def customers(self, count):
        """As many events, each with its webhook a second later."""
        for number in range(count):
            ask(self.stripe_url + "/v1/customers", KEY, form={"description": f"number {number}"})

    def listed(self):
        ids, after = [], None
        while True:
            page = ask(self.stripe_url + "/v1/events?" + urllib.parse.urlencode({"limit": 100} | ({"starting_after": after} if after else {})), KEY)
            ids += [event["id"] for event in page["data"]]
            if not page["has_more"]:
                return ids
            after = ids[-1]

    def here(self):
        ids, cursor = [], None
        while True:
            page = ask(self.url + "/v1/events?" + urllib.parse.urlencode({"limit": 250} | ({"cursor": cursor} if cursor else {})), self.key)
            ids += [event["event_id"] for event in page["data"]]
            if not (cursor := page.get("next_cursor")):
                return ids

    def reconcile(self, kill_after=None):
        """`restante reconcile run`; with a time it is killed then. Gives whether it was."""
        command = [BIN, "reconcile", "run", "--tenant", "acme", "--endpoint", self.endpoint, "--json"]
        run = subprocess.Popen(command, stdout=subprocess.PIPE, env=self.env, cwd=self.work, text=True)
        try:
            out, _ = run.communicate(timeout=kill_after or WAIT_SECONDS)
        except subprocess.TimeoutExpired:
            run.kill()
            run.communicate()
            return None
        return json.loads(out) if run.returncode == 0 else None

    def sql(self, statement):
        """As if time had passed for whoever held something."""
        with sqlite3.connect(self.data / "restante.db", timeout=30) as database:
            rows = database.execute(statement).fetchall()
        database.close()
        return rows

    def runs_out(self):
        self.sql("UPDATE reconciliations SET lease_until = 0, due_at = 0 WHERE lease_until IS NOT NULL")
        # Of those that wait behind the one that was killed there may be a few alone.
        self.sql("UPDATE reconciliation_runs SET finished_at = asked_at, outcome = 'failed' WHERE started_at IS NULL")

    def end(self):
        for process in self.processes:
            process.kill()
            process.wait()


def story(test):
    test.stripe()
    test.begin()
    half = EVENTS // 2
    test.customers(half)
    until("the webhooks", lambda: len(test.here()) >= half)
    test.server.kill()
    test.server.wait()
    test.customers(EVENTS - half)
    log = test.work / "localstripe.log"
    until("webhooks that fail", lambda: len(re.findall(r'" failed', log.read_text())) >= EVENTS - half)
    # How long a run takes to come to its pages differs by the machine: the first one is watched.
    began = time.monotonic()
    killed, middle = 0, 0
    takes = 2.0
    while killed < KILLS:
        done = test.reconcile(kill_after=random.uniform(0.02, takes))
        if done is None:
            killed += 1
            middle += test.sql("SELECT count(*) FROM reconciliation_runs WHERE started_at IS NOT NULL AND finished_at IS NULL")[0][0]
        else:
            takes = max(0.05, takes * 0.7)
        test.runs_out()
    print(f"killed {killed} times in {time.monotonic() - began:.0f} s, {middle} times in the middle of a run")
    done = test.reconcile()
    test.serve()
    listed, here = test.listed(), test.here()
    inserted = test.sql("SELECT sum(inserted) FROM reconciliation_runs")[0][0]
    print(f"{len(listed)} listed, {len(here)} here, {inserted} inserted, the last run: {done and done['outcome']}")
    yield "the last run came to its end", done is not None and done["outcome"] == "done" and done["listed"] == EVENTS
    yield "it was killed in the middle", middle > 0
    yield "everything is here", set(here) == set(listed) and len(listed) == EVENTS
    yield "nothing is here twice", len(here) == len(set(here))
    yield "each was counted once", inserted == EVENTS - half


def main():
    work = pathlib.Path(tempfile.mkdtemp(prefix="restante-reconciliation-"))
    test, passed, failed = Test(work), 0, 0
    try:
        for fact, holds in story(test):
            passed, failed = passed + bool(holds), failed + (not holds)
            if not holds:
                print(f"FAILED   {fact}")
    except Exception as error:
        failed += 1
        print(f"FAILED   {type(error).__name__}: {error}")
        for log in work.glob("*.log"):
            print(f"--- {log.name}\n" + "\n".join(log.read_text(errors="replace").splitlines()[-20:]))
    finally:
        test.end()
        shutil.rmtree(work, ignore_errors=True)
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
