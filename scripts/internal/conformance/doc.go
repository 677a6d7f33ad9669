// Package conformance holds the MCP host to its protocol, with the official conformance suite, inspector and TypeScript
// SDK, and the skill to the programs that install and judge skills. All come from npm (package.json), and scripts/check
// -all runs the tests here, which have the build tag conformance.
package conformance
