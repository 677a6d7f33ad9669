package main

// The guides are written for agents: plain text, at most 100 columns, commands that work as they stand.

const guide = `vitrine publishes files as Artifacts and shares them by URL.

Start here:
  vitrine whoami --json               is somebody signed in? Exit code 0 either way
  vitrine login                       sign in; vitrine login --device-code where no browser is
  vitrine publish ./site --ephemeral  publish without an account; prints a link
  vitrine help publish                everything about publishing

Commands:
  login          sign in
  logout         sign out
  publish PATH   publish a file or folder
  list           list the artifacts
  show           show an artifact and its files
  pull           print or save a file
  edit           change a text file by replacements
  revisions      list the revisions
  diff           compare revisions
  restore        publish an older revision again, or a draft that was left behind
  link           make, list and revoke links that open without sign-in
  set-visibility unlisted: make a link; private: end all links
  pin            keep an artifact from expiring
  unpin          let it expire again
  delete         delete an artifact
  whoami         tell who is signed in
  version        print the version
  help COMMAND   the guide of a command

Flags of every command:
  --json       one JSON object on stdout; errors are one JSON object on stderr
  --quiet      the first line of the result alone, of a list the first column, and no notes
  --color      style the output even when stdout is no terminal
  --no-color   plain text even when stdout is a terminal
  --insecure-http  speak plain HTTP with a server on another machine, which is refused otherwise
                   (exit code 4): only in a network that is wholly your own
  --version    print the version
  --help       the guide of a command

Environment:
  VITRINE_URL       the server, default http://localhost:8701; https unless it is on this machine
  VITRINE_API_KEY   API key; goes before a stored login, also when the server refuses it

Exit codes:
  0 done                    1 any other failure       2 credential missing or refused
  3 limit reached           4 wrong flags or files    5 not found or gone
  6 server or network       7 conflict; see the hint  8 declined by a person
  130 interrupted           143 terminated
`

const publishGuide = `vitrine publish PATH publishes a file or folder and prints its link.

When to use what:
  without an account   vitrine publish ./report.html --ephemeral
                       a link that opens without sign-in, for 24 hours, and a claim link
  signed in            vitrine publish ./site
                       after vitrine login or with VITRINE_API_KEY; a link for members of the
                       workspace
  with a link          vitrine publish ./site --unlisted --expires 3d
                       signed in, and with a link that opens without sign-in
  to change it         vitrine publish ./site --artifact-id art_00000000000000000000000002
                       a new revision of that artifact, under the same link; PATH holds all of
                       it: only what changed is sent, and what is gone from PATH is removed

Examples:
  vitrine publish ./site --ephemeral --title "Weekly report"
  vitrine publish notes.md --ephemeral --json
  vitrine publish . --ephemeral --entrypoint docs/start.html
  vitrine publish data.txt --ephemeral --render-mode text --quiet

What to hand back to a person:
  url         the link to open
  claim_url   only to the owner: whoever opens it first takes over the artifact and keeps it

Result with --json, one object:
  schema_version, url, artifact_id, revision_id, title, expires_at, revision_content_url,
  agent_view_url, bundle{status}, upload_stats{total_files, total_bytes, uploaded_files,
  uploaded_bytes, reused_files, reused_bytes}; signed in also private_url; with --unlisted also
  unlisted_url, access_link_id, link_expires_at; with --ephemeral also unlisted_url, claim_url,
  claim_token, claim_token_id, workspace_id, api_key_id.
An error is {"error":{code, message, hint, request_id, retry_after_seconds, docs}} on stderr.

Which files:
  A folder is published whole, below its own paths. Its entrypoint is index.html, index.md,
  README.md or index.htm, or its only file; otherwise name it with --entrypoint.
  Left out: .git .svn .hg .idea .vscode node_modules __pycache__ .venv .DS_Store Thumbs.db, links
  that lead outside or to folders, and what .artifactignore or (in a git work tree) .gitignore
  names, unless --no-ignore is given.
  Never published, unless --allow-secret names it: what looks like a secret by its name (.env,
  *.pem, *.key, id_rsa, .npmrc, credentials.json, *.tfstate, .bash_history, .docker/config.json and
  the like), what is in a folder of credentials (.ssh, .aws, .azure, .kube, .gnupg, .config/gcloud)
  or named in a .git, and any file that holds a key or token of Vitrine or a private key.
  Never published at all: the folder where vitrine keeps its logins.
  stderr names each such file and why. If the artifact has one already, it is exit code 4, and
  nothing changes. Archives and what is encoded are not looked into.

Flags:
  --ephemeral         publish without an account; a key or login is ignored
  --artifact-id ID    make a new revision of this artifact; the address of its page does too
  --unlisted          make a link that opens without sign-in; its URL opens for 24 hours,
                      then vitrine link makes a fresh one
  --expires WHEN      end of that link: 3d, 12h, 2026-12-31 (00:00 UTC), or a time of RFC 3339
  --title TEXT        1 to 160 characters; else the name of the file or folder, or with
                      --artifact-id the title that the artifact has
  --entrypoint FILE   the file that opens first, as a path below the folder
  --render-mode MODE  html, markdown, text, image, audio or video; else by the entrypoint, or with
                      --artifact-id as it was while the same file opens first
  --no-ignore         publish what ignore files name, too
  --allow-secret FILE publish this file although it looks like a secret: a path below the folder,
                      as stderr shows it; once for each file
  --json, --quiet, --color, --no-color   see vitrine help, also for exit codes and environment
`

const versionGuide = `vitrine version prints the version; vitrine version --json prints it as JSON.
`
