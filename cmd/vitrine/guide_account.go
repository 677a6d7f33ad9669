package main

const loginGuide = `vitrine login signs in and stores an API key for this machine.

  vitrine login                 opens a browser on this machine, and prints the address of the page
  vitrine login --device-code   prints an address and a code for a browser on any other device
  vitrine login --device-code --json

Agents in a sandbox: run vitrine login --device-code, show the person the address and the code that
it prints on stderr, keep the command running until it ends, then run vitrine whoami --json.
It needs no terminal and reads nothing from stdin.

What it does:
  The person signs in on the page and allows access. The command then creates an API key named after
  this machine, which may publish and read and expires after 90 days, and stores it with the token
  that acts for the person. The key of an earlier login is revoked.

Where it is stored:
  In the keyring of the system, or without one in credentials.json, which only you can read, in
  $XDG_CONFIG_HOME/vitrine or ~/.config/vitrine. There is one login for each server.
  VITRINE_API_KEY takes precedence over it. vitrine logout ends it.

Result with --json, one object on stdout:
  {"schema_version":"1","status":"logged_in","member_email":...,"workspace_id":...,
   "api_key_id":...,"public_id":...,"expires_at":...,"storage":"keyring" or "file","server":...}
  The address and the code are lines of text on stderr; an error is the last line there.

Exit codes:
  0 signed in and stored      2 refused, not for this login, or no sign-in in time
  6 server or network         8 a person declined it        130 interrupted; nothing is stored

Flags:
  --device-code   sign in with a browser on any other device
  --json, --quiet, --color, --no-color   see vitrine help
`

const logoutGuide = `vitrine logout ends the stored login: the server revokes its key, and it is deleted here.

  vitrine logout          for people
  vitrine logout --json   for programs

It is deleted here even if the server does not respond; stderr then says so. A key in
VITRINE_API_KEY stays valid. The exit code is 0 even if you were not signed in. With --json:
  {"schema_version":"1","status":"no_credential"}
  {"schema_version":"1","status":"logged_out","public_id":...,"remote_revoked":true}
  {"schema_version":"1","status":"logged_out","public_id":...,"remote_revoked":false,"reason":...}
The reason is credential_rejected if the key was no longer valid, else the code of the failure.
`

const whoamiGuide = `vitrine whoami shows who is signed in: with VITRINE_API_KEY, else with the stored login.

  vitrine whoami          for people
  vitrine whoami --json   for programs

The exit code is 0 whenever the answer is known, even if you are not signed in. All answers:

  credential            authenticated   reason
  none                  false
  VITRINE_API_KEY       true                                  source environment
    refused             false           credential_rejected   the stored login is not tried
    no API key          false           credential_malformed  it was not sent
  stored login          true                                  source login
    refused             false           credential_rejected
    expired             false           credential_expired    it is removed

With --json:
  {"schema_version":"1","authenticated":false,"reason":...}
  {"schema_version":"1","authenticated":true,"actor":...,"workspace":...,"scopes":[...],
   "usage_policy":{...},"source":...}

Exit code 6 means that the server did not respond: {"error":{...}} on stderr, nothing on stdout.
Exit code 2 with server_moved means that its hosts changed since the login; no key was sent.
`
