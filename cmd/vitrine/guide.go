package main

import "github.com/spf13/cobra"

// commands returns all commands. The guide below has a line about each.
func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{
		a.loginCommand(), a.logoutCommand(), a.publishCommand(), a.whoamiCommand(), a.upgradeCommand(), a.versionCommand(),
		a.listCommand(), a.showCommand(), a.pullCommand(), a.downloadCommand(), a.editCommand(), a.revisionsCommand(),
		a.diffCommand(), a.restoreCommand(), a.watchCommand(), a.doctorCommand(),
		a.feedbackCommand(), a.linkCommand(), a.visibilityCommand(), a.pinCommand(), a.unpinCommand(), a.deleteCommand(),
		a.keysCommand(), a.accountCommand(), a.exportCommand(), a.claimCommand(), a.openCommand(), a.configCommand(),
		a.connectCommand(), a.disconnectCommand(), a.mcpCommand(), a.completionCommand(),
	}
}

// Guides are written for agents: plain text, at most 100 columns, commands that work unchanged.

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
  watch DIR      publish a folder, and again whenever its files change
  list           list artifacts
  show           show an artifact and its files
  open           open an artifact in the browser
  pull           print or save a file
  download       save all files as one zip
  edit           replace text in a file
  revisions      list the revisions of an artifact
  diff           compare revisions
  restore        publish an older revision again, or an unfinished draft
  feedback       read what people and agents wrote about an artifact, and reply
  link           create, list and revoke links that open without sign-in
  set-visibility unlisted: create a link; private: revoke all links
  pin            keep an artifact from expiring
  unpin          let it expire again
  delete         delete an artifact
  export         save everything that the workspace has
  claim          take over what was published without an account
  keys           list, create and revoke API keys
  account        delete the workspace with everything in it, or keep it
  mcp            serve agents' clients on this machine, with this machine's files
  whoami         show who is signed in
  connect        let the agents of this machine use the server
  disconnect     take that back
  config         show and change settings
  completion     print completions for a shell
  doctor         find out what is wrong
  upgrade        upgrade this program
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
  VITRINE_URL       the server; takes precedence over vitrine config set url; default
                    http://localhost:8701; https unless it is on this machine
  VITRINE_API_KEY   API key; takes precedence over a stored login, even if the server refuses it

Exit codes:
  0 done                    1 any other failure       2 credential missing or refused
  3 limit reached           4 wrong flags or files    5 not found or gone
  6 server or network       7 conflict; see the hint  8 declined by a person
  130 interrupted           143 terminated
`

// targetNote describes the ARTIFACT argument.
const targetNote = `
ARTIFACT is an id (art_...) or the address of a page of the artifact`

const readNote = targetNote + `, or a share URL in quotes.
`
