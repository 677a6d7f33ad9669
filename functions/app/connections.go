package app

import (
	"net/http"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/entry/agentauth"
	"vitrine/shared/identity/delegation"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

func (h *Host) connectionRoutes() []route {
	const (
		all      = "/connections"
		agent    = all + "/agents/{registrationId}/unlink"
		provider = all + "/providers/{delegationId}/unlink"
		app      = all + "/apps/{grantId}/unlink"
	)
	return []route{
		{method: "GET", path: all, handle: members{page: resetCursor(h.connections)}},
		question(agent, all, members{page: h.askUnlinkAgent}),
		{method: "POST", path: agent, handle: members{form: h.unlinkAgent, back: all}},
		question(provider, all, members{page: h.askUnlinkProvider}),
		{method: "POST", path: provider, handle: members{form: h.unlinkProvider, back: all}},
		question(app, all, members{page: h.askUnlinkApp}),
		{method: "POST", path: app, handle: members{form: h.unlinkApp, back: all}},
	}
}

// connections shows one page of each of three lists. Each list has a cursor of its own, and links of one keep the
// cursors of the others.
func (h *Host) connections(w http.ResponseWriter, r *http.Request, v browserSession) error {
	at := r.URL.Query()
	var agents []agentauth.Registration
	var linked []delegation.Delegation
	var grants []oauth.Grant
	var moreAgents, moreLinked, moreApps string
	err := async.All(
		func() (err error) {
			agents, moreAgents, err = h.Agents.Connections(r.Context(), v.Actor, cursor.Page{Cursor: at.Get("agents")})
			return err
		},
		func() (err error) {
			linked, moreLinked, err = h.Agents.LinkedProviders(r.Context(), v.Actor, cursor.Page{Cursor: at.Get("providers")})
			return err
		},
		func() (err error) {
			grants, moreApps, err = h.Apps.Grants(r.Context(), v.Actor, cursor.Page{Cursor: at.Get("apps")})
			return err
		},
	)
	if err != nil {
		return err
	}
	p := pages.Connections{Layout: v.layout("/connections"), APIURL: h.Origins.API}
	turns := lists{"/connections", at, []string{"agents", "providers", "apps"}}
	p.AgentPages, p.AppPages = turns.pages("agents", moreAgents), turns.pages("apps", moreApps)
	p.LinkedPages = turns.pages("providers", moreLinked)
	for _, d := range linked {
		p.Linked = append(p.Linked, linkedOf(d))
	}
	for _, a := range agents {
		p.Agents = append(p.Agents, pages.Agent{
			ID:           string(a.ID),
			Network:      a.Network,
			RegisteredAt: a.CreatedAt,
			ApprovedAt:   a.CompletedAt,
			EndsAt:       a.ExpiresAt,
		})
	}
	for _, g := range grants {
		p.Apps = append(p.Apps, pages.App{
			ID:          string(g.Public),
			Name:        g.Name,
			Audience:    g.Audience,
			DescribedAt: g.Host(),
			Scopes:      shortRights(v.reach(g.Client, g.Scopes)),
			AllowedAt:   g.CreatedAt,
			EndsAt:      g.ExpiresAt,
		})
	}
	return h.page(w, http.StatusOK, p)
}

func (h *Host) askUnlinkAgent(w http.ResponseWriter, r *http.Request, v browserSession) error {
	a, err := h.Agents.Connection(r.Context(), v.Actor, id.Registration(r.PathValue("registrationId")))
	if err != nil {
		return err
	}
	return h.askDisconnect(w, v, "agent", string(a.ID), pages.Confirm{
		Subject: "Agent from " + a.Network,
		Detail:  string(a.ID),
		Text:    "Its access ends at once, and it cannot come back without asking you again. What it published stays.",
	})
}

func (h *Host) unlinkAgent(w http.ResponseWriter, r *http.Request, v browserSession, _ web.Form) error {
	return returnTo(w, "/connections", h.Agents.Unlink(r.Context(), v.Actor, id.Registration(r.PathValue("registrationId"))))
}

func (h *Host) askUnlinkProvider(w http.ResponseWriter, r *http.Request, v browserSession) error {
	d, err := h.Agents.LinkedProvider(r.Context(), v.Actor, id.Delegation(r.PathValue("delegationId")))
	if err != nil {
		return err
	}
	return h.askDisconnect(w, v, "provider", string(d.ID()), pages.Confirm{
		Subject: d.Provider,
		Detail:  d.Host(),
		Text: "All agents that it let in for " + pages.Plain(d.Email) + " lose their access at once, and the next one has to " +
			"ask you. What they published stays.",
	})
}

func (h *Host) unlinkProvider(w http.ResponseWriter, r *http.Request, v browserSession, _ web.Form) error {
	return returnTo(w, "/connections", h.Agents.UnlinkProvider(r.Context(), v.Actor, id.Delegation(r.PathValue("delegationId"))))
}

func (h *Host) askUnlinkApp(w http.ResponseWriter, r *http.Request, v browserSession) error {
	g, err := h.Apps.Allowed(r.Context(), v.Actor, id.Public(r.PathValue("grantId")))
	if err != nil {
		return err
	}
	return h.askDisconnect(w, v, "app", string(g.Public), pages.Confirm{
		Subject: g.Name,
		Detail:  string(g.Public),
		Text: "Its access ends at once, with the API keys that it made by signing in, and it has to ask you again. " +
			"What it published stays.",
	})
}

func (h *Host) unlinkApp(w http.ResponseWriter, r *http.Request, v browserSession, _ web.Form) error {
	return returnTo(w, "/connections", h.Apps.EndGrant(r.Context(), v.Actor, id.Public(r.PathValue("grantId"))))
}

// askDisconnect asks whether to disconnect an agent, a provider or an app, about which more tells.
func (h *Host) askDisconnect(w http.ResponseWriter, v browserSession, kind, id string, more pages.Confirm) error {
	more.Layout = v.layout("/connections")
	more.Heading = "Disconnect this " + kind + "?"
	more.Button = "Disconnect it"
	more.Action = "/connections/" + kind + "s/" + id + "/unlink"
	more.Back = "/connections"
	return h.page(w, http.StatusOK, more)
}

// returnTo redirects to a page after something ended, or returns err. What had ended already is no failure.
func returnTo(w http.ResponseWriter, back string, err error) error {
	if err != nil && !absent(err) {
		return err
	}
	redirect(w, back)
	return nil
}

// absent reports that there is nothing left to end, most often because of a second click.
func absent(err error) bool { return fault.KindOf(err) == fault.KindNotFound }
