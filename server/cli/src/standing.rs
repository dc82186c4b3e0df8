//! What is said of a database that is not to be served as it is, and what a person acknowledges who serves
//! it all the same.

use restante_app::high_water::Standing;

/// Why it is not served, and what to do; `None` when it may be.
pub(crate) fn refusal(standing: Standing) -> Option<String> {
    Some(match standing {
        Standing::Sound => return None,
        Standing::WentBack { knows_until, had_come_to } => format!(
            "The database is older than what this instance had acknowledged: it knows of its life until {knows_until}, and \
             had come to {had_come_to}. A backup was restored, or the end of its log was lost. Events that were \
             acknowledged since then are not in it. If a newer copy exists, put that in its place. To serve this one, run \
             `restante check --acknowledge-restore`, which says what to do afterwards."
        ),
        Standing::IsBackup { taken_at } => format!(
            "This database is a backup of {taken_at}: what was acknowledged after that is not in it. If the instance still \
             lives elsewhere, two of them would be one too many. To serve this one, run `restante check \
             --acknowledge-restore`, which says what to do afterwards."
        ),
        Standing::WasMoved { at } => format!(
            "This database was moved to PostgreSQL at {at}, and the instance lives there: start the server with its \
             RESTANTE_DATABASE_URL. To go back to this one, and lose what came in since, run `restante check \
             --acknowledge-restore`."
        ),
        Standing::IsHalfCopied => {
            "A copy into this database was begun and has not come to its end. Run the same `restante copy` again: it \
             goes on where it was. To begin anew, drop the database and make an empty one."
                .to_owned()
        }
    })
}

/// What has to be done after a restore.
pub(crate) const AFTER_A_RESTORE: &str = "\
What is not in this database any more, or is in it again:
  - Events that were acknowledged since then are gone. Ask the providers for them: resend from their dashboards, or \
compare with what your applications have. Those that come again are new events.
  - Acks since then are forgotten: those events are handed out again. Workers that know an event by its id skip it.
  - API keys, people, members and secrets that were deleted since then are valid again, and new ones are missing. Look \
through them now. Everybody was signed out.
  - Tenants, payloads and keys that were erased since then may be back. Erase them again.
  - A master key that was retired since then may be needed: the server names it at its start.";
