package main

import (
	"context"
	"fmt"
	"strings"

	"vitrine/cmd/vitrine/agent"
	"vitrine/cmd/vitrine/doctor"
)

// clientChecks look at the entries of each client that is on this machine.
func (a *app) clientChecks(server string) (checks []doctor.Check) {
	agents, err := a.agents()
	if err != nil || server == "" {
		return nil
	}
	for _, c := range agent.All() {
		if c.IsHere(agents.Machine) {
			checks = append(checks, func(ctx context.Context) []doctor.Finding { return examineClient(ctx, agents, c, server) })
		}
	}
	return checks
}

// examineClient looks at what connect has written for a server into the files of one client.
func examineClient(ctx context.Context, agents *agent.Agents, c agent.Client, server string) (all []doctor.Finding) {
	for _, project := range []bool{false, true} {
		records, err := agents.Records(server, project)
		if err != nil {
			return []doctor.Finding{doctor.Failed("client", doctor.Wrong, err)}
		}
		for _, r := range records {
			if r.Client == c.ID {
				all = append(all, examineEntry(ctx, agents, c, r))
			}
		}
	}
	if all == nil {
		all = []doctor.Finding{{
			Check:   "client",
			State:   doctor.OK,
			Message: c.Name + " is here, and vitrine connect has not connected it",
			Next:    "vitrine connect " + c.ID,
		}}
	}
	return all
}

func examineEntry(ctx context.Context, agents *agent.Agents, c agent.Client, r agent.Record) doctor.Finding {
	state, err := agents.Look(ctx, r)
	if err != nil {
		return doctor.Failed("client", doctor.Wrong, err)
	}
	f := doctor.Finding{Check: "client", State: doctor.OK}
	switch entry := fmt.Sprintf("the entry %s in %s", r.Name, r.File); state {
	case agent.Gone:
		f.State, f.Next = doctor.Warning, "vitrine connect "+c.ID
		f.Message = fmt.Sprintf("%s lost %s, or somebody has changed it", c.Name, entry)
	case agent.Works:
		f.Message = fmt.Sprintf("%s reaches the server by %s", c.Name, entry)
	case agent.Listed:
		f.Message = fmt.Sprintf("%s lists %s, and does not say that it is connected", c.Name, entry)
		if len(r.Writes) > 0 && strings.HasPrefix(r.Writes[0].Target, "http") {
			f.Next = c.SignIn(r.Name)
		}
	default:
		f.Message = fmt.Sprintf("%s has %s, and cannot be asked", c.Name, entry)
	}
	return f
}
