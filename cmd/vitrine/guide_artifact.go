package main

// targetNote describes the ARTIFACT argument.
const targetNote = `
ARTIFACT is an id (art_...) or the address of a page of the artifact`

const readNote = targetNote + `, or a share URL in quotes.
`

const listGuide = `vitrine list lists the artifacts of the workspace, newest first.

  vitrine list
  vitrine list --limit 200
  vitrine list --all --json
  vitrine list --quiet                only the ids, one a line

Each line shows id, day of the last change, number of files, size, expiry and title.
With --json: {"schema_version":"1","data":[{id, revision_id, status, title, entrypoint, file_count,
size_bytes, expires_at, created_at, updated_at,...}],"page_info":{next_cursor, has_more}}.

Flags:
  --limit N        how many, 1 to 10000; default 50
  --all            all, up to 10000
  --cursor CURSOR  continue after an earlier result, with its next_cursor
`

const showGuide = `vitrine show ARTIFACT shows an artifact and the files of its newest revision.

  vitrine show art_00000000000000000000000002
  vitrine show art_00000000000000000000000002 --revision-id rev_00000000000000000000000011
  vitrine show art_00000000000000000000000002 --json

With --json it prints the agent view: schema_version, artifact_id, revision_id, title, created_at,
expires_at, entrypoint, revision_content_url, files[{path, size_bytes, content_type, url, sha256}],
safety_warnings, bundle; with a credential also private_url. The urls are signed and expire soon.

Flags:
  --revision-id ID  this revision instead of the newest; ARTIFACT may be the address of its page
                    (?revision=rev_..., in quotes) instead
` + readNote + `A share URL needs no sign-in and shows the revision that it opens.
`

const revisionsGuide = `vitrine revisions ARTIFACT lists the revisions, drafts first, then the newest.

  vitrine revisions art_00000000000000000000000002
  vitrine revisions art_00000000000000000000000002 --json

Each line shows id, number, status, day, number of files, size and entrypoint.
With --json: {"schema_version":"1","artifact_id":...,"items":[{revision_id, revision_number,
status, entrypoint, render_mode, file_count, size_bytes, created_at, published_at}],...}.
` + readNote

const diffGuide = `vitrine diff ARTIFACT [REVISION [REVISION]] compares revisions, file by file.

  vitrine diff art_00000000000000000000000002        the newest two
  vitrine diff art_00000000000000000000000002 3      revision 3 and the newest
  vitrine diff art_00000000000000000000000002 3 5    these two
  vitrine diff art_00000000000000000000000002 --quiet

REVISION is a number or an id (rev_...). Text is shown as a unified diff, other files by name; with
--quiet all are shown by name. The exit code is 0 whether or not they differ. With --json:
{"schema_version":"1","artifact_id":...,"from_revision_id":...,"to_revision_id":...,
"files":[{path, status, is_binary, diff?}]}; the status is added, removed or changed.
` + readNote

const restoreGuide = `vitrine restore ARTIFACT REVISION publishes the files of an older revision as a new one.

  vitrine restore art_00000000000000000000000002 3
  vitrine restore art_00000000000000000000000002 rev_00000000000000000000000011 --json

REVISION is a number or an id (rev_...); vitrine revisions lists them. Nothing is lost: the
revisions in between are kept and can be restored too. The title is kept. The files are not sent
again. The id of an unfinished draft publishes that draft, which otherwise blocks other publishes
for up to 24 hours.
With --json the result is that of publish; for the newest revision, which needs no new one:
{"schema_version":"1","artifact_id":...,"noop":true,"title":...,"private_url":...}.
` + targetNote + `.
`

const pullGuide = `vitrine pull ARTIFACT PATH prints a file of an artifact unchanged.

  vitrine pull art_00000000000000000000000002 index.html
  vitrine pull art_00000000000000000000000002 logo.png --output logo.png
  vitrine pull art_00000000000000000000000002 index.html --json

Only text is printed to stdout; other files, and those larger than about 5 MB, need --output.
--output - writes any file to stdout, but control characters never to a terminal.
With --json: schema_version, path, sha256, size_bytes, content_type, is_binary, and body for text;
with --output also output, and neither is_binary nor body.

Flags:
  --revision-id ID  the file of this revision instead of the newest; ARTIFACT may be the address of
                    its page (?revision=rev_..., in quotes) instead
  --output FILE     save it; an existing file is not replaced; - is stdout
  --force           replace an existing regular file
` + readNote + `A share URL needs no sign-in.
`

const editGuide = `vitrine edit ARTIFACT PATH changes a text file and publishes the result as a new revision.

  vitrine edit art_00000000000000000000000002 index.html --edits edits.json
  vitrine edit art_00000000000000000000000002 index.html < edits.json

edits.json holds, for example, [{"old_string":"Helo","new_string":"Hello"}]: a JSON array of 1 to
100 {old_string, new_string, replace_all?}. Edits are literal and applied in order, each to the
result of those before. old_string must occur exactly once, overlapping matches included, unless
replace_all is true. If one does not fit, nothing is sent, and the error names it, such as edits[2]:
exit code 4, edit_failed.

If another revision is published meanwhile, the edits are applied to that one, up to 3 times; then
it fails with exit code 4, patch_conflict. It waits some seconds for another draft to be published.
Edits that would add a Vitrine key or token or a private key to the file fail with exit code 4.
With --json the result is that of publish; if nothing changes:
{"schema_version":"1","artifact_id":...,"noop":true,"title":...,"private_url":...}.

Flags:
  --edits FILE         read the edits from a file; default: stdin
  --allow-secret PATH  the same PATH again: the edits may add a secret to it
` + targetNote + `.
`
