package app

import (
	"net/http"

	"vitrine/functions/app/pages"
	"vitrine/shared/agentauth"
	"vitrine/shared/fault"
	"vitrine/shared/id"
	"vitrine/shared/oauth"
)

func (h *Host) connections(w http.ResponseWriter, r *http.Request, v visit) error {
	var agents []agentauth.Registration
	var grants []oauth.Grant
	err := together(
		func() (err error) { agents, err = h.Agents.Connections(r.Context(), v.Actor); return err },
		func() (err error) { grants, err = h.Apps.Grants(r.Context(), v.Actor); return err },
	)
	if err != nil {
		return err
	}
	p := pages.Connections{Shell: v.shell("/connections"), APIURL: h.APIURL}
	for _, a := range agents {
		p.Agents = append(p.Agents, pages.Agent{ID: string(a.ID), Network: a.Network, RegisteredAt: a.CreatedAt, ApprovedAt: a.CompletedAt, EndsAt: a.ExpiresAt})
	}
	for _, g := range grants {
		if g.RevokedAt.IsZero() {
			p.Apps = append(p.Apps, pages.App{
				ID: string(g.Public), Name: g.Name, Audience: g.Audience, Scopes: shortRights(v.reach(g.Client, g.Scopes)), AllowedAt: g.CreatedAt, EndsAt: g.ExpiresAt,
			})
		}
	}
	return h.page(w, http.StatusOK, p)
}

func (h *Host) askUnlinkAgent(w http.ResponseWriter, r *http.Request, v visit) error {
	agents, err := h.Agents.Connections(r.Context(), v.Actor)
	if err != nil {
		return err
	}
	for _, a := range agents {
		if string(a.ID) == r.PathValue("registrationId") {
			return h.page(w, http.StatusOK, pages.Confirm{
				Shell: v.shell("/connections"), Heading: "Disconnect this agent?", Subject: "Agent from " + a.Network, Detail: string(a.ID),
				Text:   "Its access ends at once, and it cannot come back without asking you again. What it published stays.",
				Button: "Disconnect it", Action: "/connections/agents/" + string(a.ID) + "/unlink", Back: "/connections",
			})
		}
	}
	return unconnected()
}

func (h *Host) unlinkAgent(w http.ResponseWriter, r *http.Request, v visit) error {
	if _, err := readForm(r); err != nil {
		return err
	}
	if err := h.Agents.Unlink(r.Context(), v.Actor, id.Registration(r.PathValue("registrationId"))); err != nil && !absent(err) {
		return err
	}
	redirect(w, "/connections")
	return nil
}

func (h *Host) askUnlinkApp(w http.ResponseWriter, r *http.Request, v visit) error {
	grants, err := h.Apps.Grants(r.Context(), v.Actor)
	if err != nil {
		return err
	}
	for _, g := range grants {
		if string(g.Public) == r.PathValue("grantId") && g.RevokedAt.IsZero() {
			return h.page(w, http.StatusOK, pages.Confirm{
				Shell: v.shell("/connections"), Heading: "Disconnect this app?", Subject: g.Name, Detail: string(g.Public),
				Text:   "Its access ends at once, with the API keys that it made by signing in, and it has to ask you again. What it published stays.",
				Button: "Disconnect it", Action: "/connections/apps/" + string(g.Public) + "/unlink", Back: "/connections",
			})
		}
	}
	return unconnected()
}

func (h *Host) unlinkApp(w http.ResponseWriter, r *http.Request, v visit) error {
	if _, err := readForm(r); err != nil {
		return err
	}
	if err := h.Apps.EndGrant(r.Context(), v.Actor, id.Public(r.PathValue("grantId"))); err != nil && !absent(err) {
		return err
	}
	redirect(w, "/connections")
	return nil
}

// absent tells that there is nothing to end: somebody was faster, the same person's second click most often.
func absent(err error) bool { return fault.KindOf(err) == fault.KindNotFound }

func unconnected() error { return fault.New(fault.NotFound, "no such connection") }
