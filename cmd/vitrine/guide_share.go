package main

const linkGuide = `vitrine link ARTIFACT creates a link that opens an artifact without sign-in.

  vitrine link art_00000000000000000000000002
  vitrine link art_00000000000000000000000002 --expires 3d
  vitrine link art_00000000000000000000000002 --revision-id rev_00000000000000000000000003
  vitrine link list art_00000000000000000000000002
  vitrine link revoke al_00000000000000000000000004

A link shows the newest revision, or with --revision-id always that one. An artifact has one link of
the first kind; repeating the command prints a new URL for it. Every URL works for 24 hours, or
until the link ends. list shows links with their ids, without URLs; revoke ends a link with all its
URLs at once. If the existing link ends later than --expires, the command fails with exit code 7,
link_lasts_longer; if it ends earlier, it is not changed, and expires_at says when.

With --json: link gives schema_version, access_link_id, type, artifact_id, revision_id, url,
expires_at; list gives artifact_id and items; revoke gives access_link_id and revoked_at.

Flags:
  --revision-id ID  always show this revision; ARTIFACT may be the address of its page instead
  --expires WHEN    3d, 12h, 1d12h, a date such as 2026-12-31 (00:00 UTC), or an RFC 3339 time
` + targetNote + `.
`

const visibilityGuide = `vitrine set-visibility ARTIFACT private|unlisted shares an artifact, or revokes all its links.

  vitrine set-visibility art_00000000000000000000000002 unlisted   prints a link
  vitrine set-visibility art_00000000000000000000000002 private    revokes all links at once

Everyone with the link can open the artifact without sign-in.
With --json: schema_version, artifact_id, visibility; for unlisted access_link_id and unlisted_url,
for private private_url and revoked_access_link_ids. A URL works for 24 hours; vitrine link
creates a new one.
` + targetNote + `.
`

const deleteGuide = `vitrine delete ARTIFACT permanently deletes an artifact with all its revisions and links.

  vitrine delete art_00000000000000000000000002 --yes
  vitrine delete art_00000000000000000000000002 --yes --json

On a terminal it asks first; the answer no is exit code 8. Without a terminal it needs --yes, or
fails with exit code 4. With --json: {"schema_version":"1","artifact_id":...,"deleted_at":...}.

Flags:
  --yes  do not ask first
` + targetNote + `.
`

const pinGuide = `vitrine pin ARTIFACT keeps an artifact from expiring; vitrine unpin ARTIFACT lets it expire again.

  vitrine pin art_00000000000000000000000002
  vitrine unpin art_00000000000000000000000002 --json

Only a signed-in person may do this: run vitrine login first. An API key is not enough, and
VITRINE_API_KEY is ignored. With --json: schema_version, id, title, status, pinned, auto_delete_at
and more.
` + targetNote + `.
`
