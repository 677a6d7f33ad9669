package main

const linkGuide = `vitrine link ARTIFACT makes a link that opens an artifact without sign-in.

  vitrine link art_00000000000000000000000002
  vitrine link art_00000000000000000000000002 --expires 3d
  vitrine link art_00000000000000000000000002 --revision-id rev_00000000000000000000000003
  vitrine link list art_00000000000000000000000002
  vitrine link revoke al_00000000000000000000000004

A link shows the newest revision, or with --revision-id that one for good. An artifact has one link
of the first kind: asking again gives a fresh URL for it. Every URL opens for 24 hours, or until the
link ends. list shows links with their ids, without URLs; revoke ends one with all its URLs at once.
If the link that is there ends later than --expires asks, it is exit code 7, link_lasts_longer; if
it ends earlier, it stays as it is, and expires_at says when.

With --json: link gives schema_version, access_link_id, type, artifact_id, revision_id, url,
expires_at; list gives artifact_id and items; revoke gives access_link_id and revoked_at.

Flags:
  --revision-id ID  pin the link to this revision; the address of its page means it too
  --expires WHEN    3d, 12h, 1d12h, a date such as 2026-12-31 (00:00 UTC), or a time of RFC 3339
` + targetNote + `.
`

const visibilityGuide = `vitrine set-visibility ARTIFACT private|unlisted shares an artifact, or ends all its links.

  vitrine set-visibility art_00000000000000000000000002 unlisted   prints a link
  vitrine set-visibility art_00000000000000000000000002 private    ends all links at once

Whoever has the link can open the artifact without sign-in.
With --json: schema_version, artifact_id, visibility; for unlisted access_link_id and unlisted_url,
for private private_url and revoked_access_link_ids. A URL opens for 24 hours; vitrine link makes
a fresh one.
` + targetNote + `.
`

const deleteGuide = `vitrine delete ARTIFACT deletes an artifact with all its revisions and links, for good.

  vitrine delete art_00000000000000000000000002 --yes
  vitrine delete art_00000000000000000000000002 --yes --json

On a terminal it asks first; declined is exit code 8. Without a terminal --yes is needed, else exit
code 4. With --json: {"schema_version":"1","artifact_id":...,"deleted_at":...}.

Flags:
  --yes  do not ask
` + targetNote + `.
`

const pinGuide = `vitrine pin ARTIFACT keeps an artifact from expiring, vitrine unpin ARTIFACT lets it expire again.

  vitrine pin art_00000000000000000000000002
  vitrine unpin art_00000000000000000000000002 --json

Only a person may do this: sign in with vitrine login. An API key is not enough, and VITRINE_API_KEY
is not used. With --json: schema_version, id, title, status, pinned, auto_delete_at and more.
` + targetNote + `.
`
