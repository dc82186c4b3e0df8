// Which pages are pictured. `who` names the person; a name that begins with "fresh" is of the tenant in
// which nothing has happened.

export function pages(ids) {
  return [
    { name: "front", path: "/" },
    { name: "docs-api", path: "/docs/api" },
    { name: "docs-errors", path: "/docs/errors" },
    { name: "docs-error", path: "/docs/errors/conflict" },
    { name: "sign-in", path: "/sign-in" },
    { name: "overview", path: "/t/acme", who: "owner" },
    { name: "overview-week", path: "/t/acme?window=7d", who: "owner" },
    { name: "fresh-overview", path: "/t/fresh", who: "fresh" },
    { name: "events", path: "/t/acme/events", who: "owner" },
    { name: "events-filtered", path: "/t/acme/events?state=failed&type=invoice.*", who: "owner" },
    { name: "event-failed", path: `/t/acme/events/${ids.failed}`, who: "owner" },
    { name: "event-diverged", path: `/t/acme/events/${ids.diverged}`, who: "owner" },
    { name: "event-hostile", path: `/t/acme/events/${ids.hostile}`, who: "owner" },
  ];
}
