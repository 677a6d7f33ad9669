package main

const publishGuide = `vitrine publish PATH publishes a file or folder and prints its link.

Which command to use:
  without an account   vitrine publish ./report.html --ephemeral
                       a link that opens without sign-in, and a claim link
  signed in            vitrine publish ./site
                       after vitrine login or with VITRINE_API_KEY; a link for members
  with a link          vitrine publish ./site --unlisted --expires 3d
                       signed in, with a link that opens without sign-in
  to update it         vitrine publish ./site --artifact-id art_00000000000000000000000002
                       a new revision of that artifact, under the same link; PATH is the whole
                       artifact: changed files are sent, and files missing in PATH are removed

Example:
  vitrine publish - --ephemeral --name report.html < report.html

What to give to a person:
  url         the link to open
  claim_url   only for the owner: the first person to open it takes over the artifact

Result with --json, one object:
  schema_version, url, artifact_id, revision_id, title, expires_at, revision_content_url,
  agent_view_url, bundle{status}, upload_stats{total_files, total_bytes, uploaded_files,
  uploaded_bytes, reused_files, reused_bytes}; signed in also private_url; with --unlisted also
  unlisted_url, access_link_id, link_expires_at; with --ephemeral also unlisted_url, claim_url,
  claim_token, claim_token_id, workspace_id, api_key_id; with no change, unchanged; after an
  interruption, resumed; with --addresses addressed[], skipped[].
An error is {"error":{code, message, hint, request_id, retry_after_seconds, docs}} on stderr.

With --dry-run --json: dry_run, title, entrypoint, files[{path, size_bytes, sha256, change}],
  deleted_paths, kept_back[{path, reason}], skipped, upload_stats; change is new, changed or same;
  listing if readers see the list first.

After an interruption, run the same command within a day: it sends what is missing and never makes
  a second artifact of the same files. Changed files start anew. While another
  one runs, exit code 7 after 5 s.

Which files:
  - publishes what stdin holds, up to 180 MiB, as one file: --name, or else index.html for what
  begins like HTML, and index.md for other text.
  A folder is published whole. Its entrypoint is index.html, index.md, README.md or
  index.htm, or its only file; for another one use --entrypoint. Without one, readers see the list
  of its files, images as a gallery.
  Skipped: .git .svn .hg .idea .vscode node_modules __pycache__ .venv .DS_Store Thumbs.db, links
  that lead outside or to folders, and files that .artifactignore or (in a git work tree)
  .gitignore excludes, unless --no-ignore is set.
  Never published, unless --allow-secret names it: a file that looks like a secret by name (.env,
  *.pem, id_rsa, *.tfstate and the like), a file in a folder of credentials (.ssh, .aws, .kube and
  the like) or in .git, and any file that contains a Vitrine key or token or a private key.
  Never at all: the folder of the logins. stderr lists each file and why. If the artifact already
  has one: exit code 4, and nothing changes. Archives and encoded text are not searched.

Flags:
  --ephemeral         publish without an account; a key or login is ignored
  --artifact-id ID    create a revision of it; ID may be the link of its page
  --unlisted          create a link that opens without sign-in
  --expires WHEN      an end of it: 3d, 12h, 2026-12-31 (00:00 UTC), or an RFC 3339 time
  --title TEXT        1 to 160 characters; default: that of the first page or the path, with
                      --artifact-id the current one
  --entrypoint FILE   the file that opens first, by its path below it
  --app               the entrypoint answers for paths that no file has
  --no-app            it does not; default: by its pages
  --render-mode MODE  html, markdown, text, image, audio or video; default: by the entrypoint
  --no-ignore         publish ignored files, too
  --allow-secret FILE publish this file although it looks like a secret, named as stderr names it
  --relative          publish copies of HTML and CSS with relative addresses; without, a leading
                      slash is refused (exit code 4) where artifacts share an origin
  --as-is             publish it all the same, or a page that would be blank
  --name NAME         the name of what stdin holds, with its extension
  --force             create a revision although nothing changed
  --operation-key KEY another KEY makes a second copy, the same one never does; 8 to 194 of
                      A-Z a-z 0-9 . _ : -
  --addresses LIST    threads that it has dealt with: ids, or all that feedback showed
  --note TEXT         what it did about them
  --dry-run           only show what would be sent and what is kept back, and with --artifact-id
                      what is new, changed or deleted
  --open              open the link in the browser
  --qr                draw the link as a QR code, too
  --json, --quiet, --color, --no-color   see vitrine help, also for exit codes and environment
`
