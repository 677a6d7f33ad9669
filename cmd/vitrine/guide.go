package main

// The guides are written for agents: plain text, at most 100 columns, commands that work unchanged.

const guide = `vitrine publishes files as Artifacts and shares them by URL.

Start here:
  vitrine whoami --json               are you signed in? Exit code 0 either way
  vitrine login                       sign in; without a browser: vitrine login --device-code
  vitrine publish ./site --ephemeral  publish without an account; prints a link
  vitrine help publish                everything about publishing

Commands:
  login          sign in
  logout         sign out
  publish PATH   publish a file or folder
  list           list artifacts
  show           show an artifact and its files
  pull           print or save a file
  edit           replace text in a file
  revisions      list the revisions of an artifact
  diff           compare revisions
  restore        publish an older revision again, or an unfinished draft
  link           create, list and revoke links that open without sign-in
  set-visibility unlisted: create a link; private: revoke all links
  pin            keep an artifact from expiring
  unpin          let it expire again
  delete         delete an artifact
  whoami         show who is signed in
  version        print the version
  help COMMAND   show the guide to a command

Global flags:
  --json       one JSON object on stdout; errors are one JSON object on stderr
  --quiet      only the first line of a result or the first column of a list, and no notes
  --color      style the output even if stdout is not a terminal
  --no-color   plain text even if stdout is a terminal
  --insecure-http  allow plain HTTP to a server on another machine, which is otherwise refused
                   (exit code 4); use it only on a network that you control
  --version    print the version
  --help       show the guide to a command

Environment:
  VITRINE_URL       the server, default http://localhost:8701; https unless it is on this machine
  VITRINE_API_KEY   API key; takes precedence over a stored login, even if the server refuses it

Exit codes:
  0 done                    1 any other failure       2 credential missing or refused
  3 limit reached           4 wrong flags or files    5 not found or gone
  6 server or network       7 conflict; see the hint  8 declined by a person
  130 interrupted           143 terminated
`

const publishGuide = `vitrine publish PATH publishes a file or folder and prints its link.

Which command to use:
  without an account   vitrine publish ./report.html --ephemeral
                       a link that opens without sign-in, for 24 hours, and a claim link
  signed in            vitrine publish ./site
                       after vitrine login or with VITRINE_API_KEY; a link for members of the
                       workspace
  with a link          vitrine publish ./site --unlisted --expires 3d
                       signed in, with a link that opens without sign-in
  to update it         vitrine publish ./site --artifact-id art_00000000000000000000000002
                       a new revision of that artifact, under the same link; PATH is the whole
                       artifact: changed files are sent, and files missing in PATH are removed

Examples:
  vitrine publish ./site --ephemeral --title "Weekly report"
  vitrine publish notes.md --ephemeral --json
  vitrine publish . --ephemeral --entrypoint docs/start.html
  vitrine publish data.txt --ephemeral --render-mode text --quiet

What to give to a person:
  url         the link to open
  claim_url   only for the owner: the first person to open it takes over the artifact

Result with --json, one object:
  schema_version, url, artifact_id, revision_id, title, expires_at, revision_content_url,
  agent_view_url, bundle{status}, upload_stats{total_files, total_bytes, uploaded_files,
  uploaded_bytes, reused_files, reused_bytes}; signed in also private_url; with --unlisted also
  unlisted_url, access_link_id, link_expires_at; with --ephemeral also unlisted_url, claim_url,
  claim_token, claim_token_id, workspace_id, api_key_id.
An error is {"error":{code, message, hint, request_id, retry_after_seconds, docs}} on stderr.

Which files:
  A folder is published with all its files. Its entrypoint is index.html, index.md, README.md or
  index.htm, or its only file; for another one use --entrypoint.
  Skipped: .git .svn .hg .idea .vscode node_modules __pycache__ .venv .DS_Store Thumbs.db, links
  that lead outside or to folders, and files that .artifactignore or (in a git work tree)
  .gitignore excludes, unless --no-ignore is set.
  Never published, unless --allow-secret names it: a file that looks like a secret by name (.env,
  *.pem, *.key, id_rsa, .npmrc, credentials.json, *.tfstate, .bash_history, .docker/config.json and
  the like), a file in a credentials folder (.ssh, .aws, .azure, .kube, .gnupg, .config/gcloud) or
  in .git, and any file that contains a Vitrine key or token or a private key.
  Never published at all: the folder where vitrine stores its logins.
  stderr lists each such file with the reason. If the artifact already has one, the command fails
  with exit code 4 and changes nothing. Archives and encoded text are not searched.

Flags:
  --ephemeral         publish without an account; a key or login is ignored
  --artifact-id ID    create a new revision of this artifact; ID may be the address of its page
  --unlisted          create a link that opens without sign-in; its URL works for 24 hours,
                      then vitrine link creates a new one
  --expires WHEN      end of that link: 3d, 12h, 2026-12-31 (00:00 UTC), or an RFC 3339 time
  --title TEXT        1 to 160 characters; default: the name of the file or folder, or with
                      --artifact-id the current title
  --entrypoint FILE   the file that opens first, as a path below the folder
  --render-mode MODE  html, markdown, text, image, audio or video; default: by the entrypoint, or
                      with --artifact-id the current mode if the entrypoint stays the same
  --no-ignore         publish ignored files, too
  --allow-secret FILE publish this file although it looks like a secret: a path below the folder,
                      as stderr shows it; repeat the flag for each file
  --json, --quiet, --color, --no-color   see vitrine help, also for exit codes and environment
`

const versionGuide = `vitrine version prints the version; vitrine version --json prints it as JSON.
`
