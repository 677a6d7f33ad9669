package main

const loginGuide = `vitrine login signs in and keeps an API key for this machine.

  vitrine login                 opens a browser of this machine, and prints the address of the page
  vitrine login --device-code   prints an address and a code for a browser on any other device
  vitrine login --device-code --json

Agents in a sandbox: run vitrine login --device-code, show the person the address and the code that
are printed on stderr, keep the command running until it ends, then run vitrine whoami --json.
No terminal is needed, and nothing is asked on stdin.

What it does:
  The person signs in on the page and allows it. The command then makes an API key named after this
  machine, with the rights to publish and to read, which ends after 90 days, and stores it with what
  is needed to act for the person. A key that an earlier login stored is revoked.

Where it is kept:
  In the keyring of the system. Where there is none, in credentials.json, readable for you alone, in
  $XDG_CONFIG_HOME/vitrine, else ~/.config/vitrine. Every server has a login of its own.
  VITRINE_API_KEY goes before it. vitrine logout ends it.

Result with --json, one object on stdout:
  {"schema_version":"1","status":"logged_in","member_email":...,"workspace_id":...,
   "api_key_id":...,"public_id":...,"expires_at":...,"storage":"keyring" or "file","server":...}
  The address and the code stand on stderr as lines of text; an error is the last line there.

Exit codes:
  0 signed in and stored      2 refused, not for this login, or nobody signed in in time
  6 server or network         8 a person declined it        130 interrupted; nothing is stored

Flags:
  --device-code   sign in with a browser on any other device
  --json, --quiet, --color, --no-color   see vitrine help
`

const logoutGuide = `vitrine logout ends the stored login: the server revokes its key, and it is deleted here.

  vitrine logout          for people
  vitrine logout --json   for programs

It is deleted here even if the server cannot be asked; stderr then says so. A key in VITRINE_API_KEY
is left alone. The exit code is 0 also when nobody was signed in. With --json:
  {"schema_version":"1","status":"no_credential"}
  {"schema_version":"1","status":"logged_out","public_id":...,"remote_revoked":true}
  {"schema_version":"1","status":"logged_out","public_id":...,"remote_revoked":false,"reason":...}
The reason is credential_rejected if the key did not count any more, else the code of the failure.
`

const whoamiGuide = `vitrine whoami tells who is signed in: by VITRINE_API_KEY, else by the login that is stored.

  vitrine whoami          for people
  vitrine whoami --json   for programs

The exit code is 0 whenever the answer is known, also when it is nobody. All answers:

  credential            authenticated   reason
  none                  false
  VITRINE_API_KEY       true                                  source environment
    refused             false           credential_rejected   the stored login is not tried
    no API key          false           credential_malformed  it was not sent
  stored login          true                                  source login
    refused             false           credential_rejected
    past its end        false           credential_expired    it is removed

With --json:
  {"schema_version":"1","authenticated":false,"reason":...}
  {"schema_version":"1","authenticated":true,"actor":...,"workspace":...,"scopes":[...],
   "usage_policy":{...},"source":...}

Exit code 6 means that the server did not answer: {"error":{...}} on stderr, nothing on stdout.
Exit code 2 with server_moved means that it names other hosts than at the login; no key was sent.
`
