package main

import (
	"fmt"
	"strings"

	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/screen"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// published is the JSON result of publish.
type published struct {
	SchemaVersion string `json:"schema_version"`
	// Event is set by watch only.
	Event string `json:"event,omitempty"`
	// URL is the best link to share: one that works without sign-in if there is one.
	URL string `json:"url"`
	contract.Published
	AccessLinkID id.Link `json:"access_link_id,omitempty"`
	// LinkExpiresAt is the end of the link, if it has one.
	LinkExpiresAt *contract.Time       `json:"link_expires_at,omitempty"`
	ClaimURL      string               `json:"claim_url,omitempty"`
	ClaimToken    string               `json:"claim_token,omitempty"`
	ClaimTokenID  string               `json:"claim_token_id,omitempty"`
	WorkspaceID   string               `json:"workspace_id,omitempty"`
	APIKeyID      string               `json:"api_key_id,omitempty"`
	UploadStats   contract.UploadStats `json:"upload_stats"`
	Unchanged     bool                 `json:"unchanged,omitempty"`
	// Resumed says that an interrupted publish was continued.
	Resumed bool `json:"resumed,omitempty"`
	pageWarnings
}

// hand reports a publication. It draws the link and opens it if the flags ask for that.
func (a *app) hand(p *publication, w publishFlags) error {
	if err := a.report(p); err != nil {
		return err
	}
	address := p.bestLink()
	if w.qr {
		if err := a.screen.QR(address); err != nil {
			return err
		}
	}
	if w.open {
		a.openInBrowser(address)
	}
	return nil
}

// bestLink returns the URL to share: one that works without sign-in if there is one.
func (p *publication) bestLink() string {
	if p.link.URL != "" {
		return p.link.URL
	}
	return link(p.result)
}

// report writes the result of a publication.
func (a *app) report(p *publication) error {
	r := published{
		SchemaVersion: schemaVersion,
		Event:         p.event,
		URL:           p.bestLink(),
		Published:     p.result,
		UploadStats:   p.stats,
		Unchanged:     p.unchanged,
		Resumed:       p.resumes(),
		pageWarnings:  p.pages,
	}
	if l := p.link; l.URL != "" {
		r.UnlistedURL = l.URL
		r.AccessLinkID = l.ID
		r.LinkExpiresAt = l.ExpiresAt
	}
	if t := p.provisioned; t != nil {
		r.ClaimURL, r.ClaimToken = p.account.Hosts.AppURL+"/claim#"+t.ClaimToken, t.ClaimToken
		r.ClaimTokenID = string(t.ClaimTokenID)
		r.WorkspaceID = string(t.WorkspaceID)
		r.APIKeyID = string(t.APIKeyID)
	}
	if err := r.check(p.provisioned); err != nil {
		return err
	}
	if a.screen.IsJSON() {
		return a.screen.Object(r)
	}
	if err := a.screen.Result(r.URL, a.rows(r, p)...); err != nil {
		return err
	}
	a.notePages(p.pages)
	return nil
}

// link returns the best URL of a published revision, "" if the server sent none.
func link(p contract.Published) string {
	for _, u := range []string{p.URL, p.UnlistedURL, p.PrivateURL} {
		if u != "" {
			return u
		}
	}
	return ""
}

// check refuses a result without a link, and links that contain the secrets of the new workspace.
func (p published) check(trial *contract.Provisioned) error {
	why := ""
	if p.URL == "" {
		why = "the server published the files but returned no link"
	}
	if trial != nil {
		for _, u := range []string{p.URL, p.UnlistedURL, p.PrivateURL, p.RevisionContentURL, p.AgentViewURL, p.Bundle.URL} {
			if strings.Contains(u, trial.ClaimToken) || strings.Contains(u, trial.APIKeySecret) {
				why = "the server put a secret into a link; it is not shown"
			}
		}
	}
	if why == "" {
		return nil
	}
	return failure.New(failure.Other, failure.BadResponse, "%s", why).Advise("Report this to the operator of the server.")
}

// rows returns the lines below the link.
func (a *app) rows(r published, p *publication) []screen.Row {
	s := r.UploadStats
	files := fmt.Sprintf("%s, %s", screen.Count(s.TotalFiles, "file"), screen.Bytes(s.TotalBytes))
	if s.ReusedFiles > 0 {
		files += fmt.Sprintf(" (%d uploaded, %d reused)", s.UploadedFiles, s.ReusedFiles)
	}
	var rows []screen.Row
	if p.link.URL != "" {
		rows = append(rows, screen.Row{Name: "Opens", Value: "without sign-in " + a.lifetime(p.link, r.ExpiresAt)})
	}
	if r.PrivateURL != "" {
		rows = append(rows, screen.Row{Name: "View", Value: r.PrivateURL + " (for members of the workspace)"})
	}
	rows = append(rows, []screen.Row{
		{Name: "Expires", Value: a.expiry(r.ExpiresAt)},
		{Name: "Title", Value: r.Title},
		{Name: "Files", Value: files},
		{Name: "Artifact", Value: string(r.ArtifactID)},
	}...)
	switch {
	case r.ClaimURL != "":
		rows = append(rows,
			screen.Row{
				Name:  "Claim",
				Value: r.ClaimURL + " (keep it to yourself: the first person to open it takes over the artifact)",
			})
	case p.path != "":
		rows = append(rows, screen.Row{
			Name:  "Update",
			Value: "vitrine publish " + quotedPath(p.path) + p.flags + " --artifact-id " + string(r.ArtifactID),
		})
	}
	return rows
}
