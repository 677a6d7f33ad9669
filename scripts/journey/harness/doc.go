// Package harness runs deployments for tests across hosts: an Env has clients, a BackendEnv also access to its tables,
// and the other ones add what tests of a topic share.
package harness
