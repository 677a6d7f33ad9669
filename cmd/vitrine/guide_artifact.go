package main

// targetNote describes the ARTIFACT argument.
const targetNote = `
ARTIFACT is an id (art_...) or the address of a page of the artifact`

const readNote = targetNote + `, or a share URL in quotes.
`

const listGuide = `vitrine list lists the artifacts of the workspace, the newest first.

  vitrine list
  vitrine list --limit 200
  vitrine list --all --json
  vitrine list --quiet                ids alone, one a line

A line holds id, day of the last change, number of files, size, expiry and title.
With --json: {"schema_version":"1","data":[{id, revision_id, status, title, entrypoint, file_count,
size_bytes, expires_at, created_at, updated_at,...}],"page_info":{next_cursor, has_more}}.

Flags:
  --limit N        how many, 1 to 10000; else 50
  --all            as many as there are, up to 10000
  --cursor CURSOR  go on after an earlier answer, with its next_cursor
`

const showGuide = `vitrine show ARTIFACT shows an artifact and the files of its newest revision.

  vitrine show art_00000000000000000000000002
  vitrine show art_00000000000000000000000002 --revision-id rev_00000000000000000000000011
  vitrine show art_00000000000000000000000002 --json

With --json it is the agent view: schema_version, artifact_id, revision_id, title, created_at,
expires_at, entrypoint, revision_content_url, files[{path, size_bytes, content_type, url, sha256}],
safety_warnings, bundle; with a credential also private_url. The urls are signed and end soon.

Flags:
  --revision-id ID  this revision instead of the newest; the address of its page (?revision=rev_...,
                    in quotes) means it too
` + readNote + `A share URL needs no sign-in and shows what it opens.
`

const revisionsGuide = `vitrine revisions ARTIFACT lists the revisions, drafts first, then the newest.

  vitrine revisions art_00000000000000000000000002
  vitrine revisions art_00000000000000000000000002 --json

A line holds id, number, status, day, number of files, size and the file that opens first.
With --json: {"schema_version":"1","artifact_id":...,"items":[{revision_id, revision_number,
status, entrypoint, render_mode, file_count, size_bytes, created_at, published_at}],...}.
` + readNote

const diffGuide = `vitrine diff ARTIFACT [REVISION [REVISION]] compares revisions, file by file.

  vitrine diff art_00000000000000000000000002        the newest two
  vitrine diff art_00000000000000000000000002 3      revision 3 and the newest
  vitrine diff art_00000000000000000000000002 3 5    these two
  vitrine diff art_00000000000000000000000002 --quiet

REVISION is a number or an id (rev_...). Text is shown as a unified diff, other files by name, with
--quiet all by name. The exit code is 0 whether or not they differ. With --json:
{"schema_version":"1","artifact_id":...,"from_revision_id":...,"to_revision_id":...,
"files":[{path, status, is_binary, diff?}]}, the status being added, removed or changed.
` + readNote

const restoreGuide = `vitrine restore ARTIFACT REVISION publishes the files of an older revision as a new one.

  vitrine restore art_00000000000000000000000002 3
  vitrine restore art_00000000000000000000000002 rev_00000000000000000000000011 --json

REVISION is a number or an id (rev_...); vitrine revisions lists them. Nothing is lost: the
revisions in between stay, and can be restored too. The title stays as it is. The files are not
sent again. The id of a draft that was left behind publishes that draft: until then, at most
24 hours, it stands in the way of other publishes.
With --json the result is that of publish; for the newest revision, of which none is made:
{"schema_version":"1","artifact_id":...,"noop":true,"title":...,"private_url":...}.
` + targetNote + `.
`

const pullGuide = `vitrine pull ARTIFACT PATH prints a file of an artifact, exactly as it is.

  vitrine pull art_00000000000000000000000002 index.html
  vitrine pull art_00000000000000000000000002 logo.png --output logo.png
  vitrine pull art_00000000000000000000000002 index.html --json

stdout gets text alone; files that are no text, or larger than about 5 MB, need --output. With
--output - all of them go to stdout, though to a terminal no bytes that would steer it.
With --json: schema_version, path, sha256, size_bytes, content_type, is_binary, and body for text;
with --output also output, and neither is_binary nor body.

Flags:
  --revision-id ID  the file of this revision instead of the newest; the address of its page
                    (?revision=rev_..., in quotes) means it too
  --output FILE     save it; a file that is there is never replaced; - is stdout
  --force           replace a regular file after all
` + readNote + `A share URL needs no sign-in.
`

const editGuide = `vitrine edit ARTIFACT PATH changes a text file and publishes the result as a new revision.

  vitrine edit art_00000000000000000000000002 index.html --edits edits.json
  vitrine edit art_00000000000000000000000002 index.html < edits.json

edits.json holds, for example, [{"old_string":"Helo","new_string":"Hello"}]: a JSON array of 1 to
100 {old_string, new_string, replace_all?}. Edits are literal and made in order, each on the result
of those before. old_string must be there exactly once, matches that overlap included, unless
replace_all is true. If one does not fit, nothing is sent, and the error names it, such as edits[2]:
exit code 4, edit_failed.

If somebody publishes meanwhile, the edits are made anew on the newer revision, up to 3 times;
then it is exit code 4 with patch_conflict. A draft of somebody else is waited for, for seconds.
Edits that would put a key or token of Vitrine or a private key into the file are exit code 4.
With --json the result is that of publish; if nothing changes:
{"schema_version":"1","artifact_id":...,"noop":true,"title":...,"private_url":...}.

Flags:
  --edits FILE         read the edits from a file; else from stdin
  --allow-secret PATH  the same PATH: the edits may put a secret into it
` + targetNote + `.
`
