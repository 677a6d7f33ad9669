// Package conformance holds the MCP host, and vitrine mcp in front of it, to the protocol, with the official
// conformance suite, inspector and TypeScript SDK, the skill to the programs that install and judge skills, and vitrine
// connect to the lists of clients. All come from npm (package.json), and scripts/check -all runs the tests here, which
// have the build tag conformance.
package conformance
