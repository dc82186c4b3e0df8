#!/usr/bin/env python3
"""Lets the providers' own libraries sign, and `restante verify` judge.

It installs the libraries that package.json and requirements.txt name into a temporary folder (npm and
pip have to reach their registries), sends what they sign through `restante verify --json-lines`, and
wants each request accepted with its event's id. Then each once more with a byte of the body changed,
with another secret, and (where the scheme signs a time) ten minutes late: all of these must be refused.
RESTANTE_BIN names the program. The last line is `N passed, N failed, N skipped`.
"""
import json, os, pathlib, shutil, subprocess, sys, tempfile

HERE = pathlib.Path(__file__).resolve().parent
SIGNS_A_TIME = {"stripe", "svix", "standard-webhooks", "slack"}
LATE_SECONDS = 600


def installed(work):
    """Both sets of libraries, with the scripts beside them; raises when one can't be had."""
    for name in ("package.json", "sign.mjs", "sign_slack.py"):
        shutil.copy(HERE / name, work)
    subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=work, check=True)
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--root-user-action=ignore", "--target", work / "python",
                    "--requirement", HERE / "requirements.txt"], check=True)

def signed(work):
    python = os.environ | {"PYTHONPATH": str(work / "python")}
    for command, env in ([["node", "sign.mjs"], None], [[sys.executable, "sign_slack.py"], python]):
        printed = subprocess.run(command, cwd=work, env=env, check=True, capture_output=True, text=True, encoding="utf-8").stdout
        yield from (json.loads(line) for line in printed.split("\n") if line)

def spoiled(request):
    """The same request in ways that must be refused."""
    at = request["body"].index(next(c for c in request["body"] if c.isalpha()))
    other = "b" if request["body"][at] == "a" else "a"
    yield request | {"id": request["id"] + "-changed", "body": request["body"][:at] + other + request["body"][at + 1:]}
    secret = request["secrets"][0]
    yield request | {"id": request["id"] + "-other-secret", "secrets": [secret[:-1] + ("A" if secret[-1] != "A" else "B")]}
    if request["provider"] in SIGNS_A_TIME:
        yield request | {"id": request["id"] + "-late", "at": request["at"] + LATE_SECONDS}

def judged(requests):
    """The verdicts by id."""
    lines = "".join(json.dumps({k: v for k, v in r.items() if k != "event"}) + "\n" for r in requests)
    done = subprocess.run([os.environ.get("RESTANTE_BIN", "target/debug/restante"), "verify", "--json-lines"], input=lines,
                          capture_output=True, text=True, encoding="utf-8")
    return {v["id"]: v for v in (json.loads(line) for line in done.stdout.split("\n") if line)}

def main():
    work = pathlib.Path(tempfile.mkdtemp(prefix="restante-signers-"))
    try:
        installed(work)
        good = list(signed(work))
    finally:
        shutil.rmtree(work, ignore_errors=True)
    bad = [b for request in good for b in spoiled(request)]
    verdicts = judged(good + bad)
    failed = 0
    for request in good + bad:
        verdict = verdicts.get(request["id"], {"verdict": "nothing"})
        ids = [r["event_id"] for r in verdict.get("receipts", [])]
        wanted = ("accept", [request["event"]]) if request in good else ("reject", [])
        if (verdict["verdict"], ids) != wanted:
            failed += 1
            print(f"{request['id']}: expected {wanted}, got {verdict}")
    print(f"{len(good) + len(bad) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
