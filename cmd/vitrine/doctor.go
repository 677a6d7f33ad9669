package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/doctor"
	"vitrine/cmd/vitrine/screen"
)

// errUnhealthy is the result of doctor if something is wrong, which it has printed.
var errUnhealthy = errors.New("something is wrong")

func (a *app) doctorCommand() *cobra.Command {
	return a.command("doctor", "Find out what is wrong", doctorGuide, cobra.NoArgs,
		func(ctx context.Context, _ []string) error { return a.doctor(ctx) })
}

// examined is the JSON result of doctor.
type examined struct {
	SchemaVersion string           `json:"schema_version"`
	Healthy       bool             `json:"healthy"`
	Version       string           `json:"version"`
	Server        string           `json:"server,omitempty"`
	Findings      []doctor.Finding `json:"findings"`
}

// doctor looks at this machine and the deployment.
func (a *app) doctor(ctx context.Context) error {
	caller := a.caller()
	caller.Patience = client.RetryPolicy{MaxAttempts: 1}
	r := examined{SchemaVersion: schemaVersion, Version: version}
	r.Findings = a.examineSettings(&r.Server)
	d := doctor.Doctor{
		Caller:  caller,
		Server:  r.Server,
		Vault:   a.vault(),
		Env:     a.env,
		Now:     a.now,
		Version: version,
		More:    a.clientChecks(r.Server),
	}
	r.Findings = append(r.Findings, d.Examine(ctx)...)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.Healthy = doctor.Count(r.Findings, doctor.Wrong) == 0
	return a.tellFindings(r)
}

// examineSettings looks at the file of settings, also where it is not read because VITRINE_URL is set. It stores the
// address of the server, if that can be told.
func (a *app) examineSettings(server *string) (all []doctor.Finding) {
	add := func(err error) { all = append(all, doctor.Failed("settings", doctor.Wrong, err)) }
	for _, s := range settings {
		if _, err := a.config().Get(s.name); err != nil {
			add(err)
			break
		}
	}
	base, err := a.server()
	switch {
	case err == nil:
		*server = base
	case len(all) == 0:
		add(err)
	}
	return all
}

func (a *app) tellFindings(r examined) (err error) {
	if a.screen.IsJSON() {
		err = a.screen.Object(r)
	} else {
		err = a.screen.Result(summaryOf(r.Findings), rowsOf(r.Findings)...)
	}
	if err == nil && !r.Healthy {
		err = errUnhealthy
	}
	return err
}

func summaryOf(all []doctor.Finding) string {
	wrong, warned := doctor.Count(all, doctor.Wrong), doctor.Count(all, doctor.Warning)
	if wrong+warned == 0 {
		return "Everything is in order"
	}
	return screen.Count(wrong, "thing") + " to correct, " + screen.Count(warned, "warning")
}

func rowsOf(all []doctor.Finding) (rows []screen.Row) {
	for _, f := range all {
		rows = append(rows, screen.Row{Name: fmt.Sprintf("%-7s  %s", f.State, f.Check), Value: f.Message})
		if f.Next != "" {
			rows = append(rows, screen.Row{Value: "next: " + f.Next})
		}
	}
	return rows
}

const doctorGuide = `vitrine doctor finds out what keeps vitrine from working.

  vitrine doctor
  vitrine doctor --json

It looks at the settings, the proxy, the server, its certificate, the clock, the version of this
program, where people sign in, the MCP host, the stored logins, the login, the skill of agents and
the clients on this machine.
Each line is ok, warning or wrong, with what is wrong and what to do next. What depends on a server
that cannot be reached is left out. Nothing is registered, and no secret is shown.

Exit code 1 means that something is wrong. Warnings, as that nobody is signed in, are exit code 0.

With --json: {"schema_version":"1","healthy":...,"version":...,"server":...,
"findings":[{"check":...,"state":"ok"|"warning"|"wrong","message":...,"next":...}]}. check is
settings, proxy, server, tls, clock, version, sign-in, mcp, storage, login, skill or client.
Findings may be added within a version, and a check may have several or none.
`
