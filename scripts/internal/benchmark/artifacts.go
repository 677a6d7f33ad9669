package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/aymanbagabas/go-udiff"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// artifactRoutes are the rows of commands on artifacts and their links, which find prepared what they use up.
func (b *bench) artifactRoutes() []row {
	provision := func(ctx context.Context, _ int) error {
		_, _, err := b.anyone.Provision(ctx)
		return err
	}
	create := func(ctx context.Context, client int) error {
		_, err := b.agents[client].Create(ctx, wire.NewKey(), wire.Declare("Report", tenFiles()...))
		return err
	}
	publish := func(m *maker) operation { return m.draft(m.inTurn(m.n)) }
	remove := func(m *maker) operation {
		s := m.page()
		return asking(s.Agent, 200, "DELETE", s.path(""), nil)
	}
	revoke := func(m *maker) operation {
		g := m.provision().Agent
		m.first(getting(g, "/v1/whoami")) // so that the use of its key is not noted again
		return asking(g, 200, "POST", "/v1/api-keys/current/revoke", nil)
	}
	mint := func(m *maker) operation { return m.onLink(m.page(), "/v1/access-links/", "/mint") }
	end := func(m *maker) operation { return m.onLink(m.page(), "/v1/access-links/", "/revoke") }
	list := func(m *maker) operation {
		s := m.page()
		m.onLink(s, "", "")
		return getting(s.Agent, s.path(links))
	}
	link := b.commands(b.fewArtifacts, http.StatusCreated, "POST", func(s shown, _ int) (string, any) {
		return s.path(links), s.toRevision()
	})
	visibility := b.commands(b.fewArtifacts, http.StatusOK, "PUT", func(s shown, turn int) (string, any) {
		words := [2]string{"private", "unlisted"} // the publication has shared it
		return s.path("/visibility"), contract.SetVisibility{Visibility: words[turn%2]}
	})
	rename := b.commands(b.fewArtifacts, http.StatusOK, "PATCH", func(s shown, turn int) (string, any) {
		return s.path("/display-metadata"), contract.UpdateMetadata{Title: fmt.Sprint("Report ", turn)}
	})
	return []row{
		{name: "provision", title: "POST provision", stock: b.gated(gateMost, same(provision))},
		{name: "publish", title: "POST publish, first", stock: b.stocked(publish)},
		{name: "delete", title: "DELETE artifact", stock: b.stocked(remove)},
		{name: "revoke", title: "POST revoke", stock: b.gated(gateMost, revoke)},
		{name: "session-create", title: "POST session create, 10 files", work: create},
		{name: "finalize", title: "POST finalize, 3 files", stock: b.sessions(site)},
		{name: "finalize-reuse", title: "POST finalize, 3 files that are known", stock: b.reuses},
		{name: "finalize-patch", title: "POST finalize, a patch and 9 files of the base", stock: b.stocked((*maker).patch)},
		{name: "link-create", title: "POST link, to a revision", stock: link},
		{name: "link-mint", title: "POST link mint", stock: b.stocked(mint)},
		{name: "link-list", title: "GET links of an artifact", stock: b.stocked(list)},
		{name: "link-revoke", title: "POST link revoke", stock: b.stocked(end)},
		{name: "visibility", title: "PUT visibility, private and unlisted in turn", stock: visibility},
		{name: "rename", title: "PATCH title", stock: rename},
	}
}

// draft makes a draft and returns how it is published.
func (m *maker) draft(g *wire.Agent) operation {
	var d contract.Finalized
	if files := site(); m.err == nil {
		d, m.err = g.Draft(m.ctx, wire.NewKey(), wire.Declare("Report", files...), files...)
	}
	return func(ctx context.Context, _ int) error {
		_, err := g.Publish(ctx, wire.NewKey(), d.ArtifactID, d.RevisionID)
		return err
	}
}

const links = "/access-links"

// onLink makes a link and returns a request about it.
func (m *maker) onLink(s shown, path, verb string) operation {
	made := ask[contract.CreatedLink](m, s.Agent, http.StatusCreated, "POST", s.path(links), s.toRevision(), command)
	return asking(s.Agent, http.StatusOK, "POST", path+string(made.ID)+verb, nil)
}

// sessions finalize sessions whose files have come as far as they have to.
func (b *bench) sessions(files func() []wire.File) stock {
	return b.stocked(func(m *maker) operation {
		files := files()
		return m.uploaded(m.inTurn(m.n), wire.Declare("Report", files...), files)
	})
}

// uploaded opens a session, uploads its files and returns how it is finalized.
func (m *maker) uploaded(g *wire.Agent, r contract.CreateSession, files []wire.File) operation {
	var session contract.Session
	if m.err == nil {
		session, m.err = g.Create(m.ctx, wire.NewKey(), r)
	}
	for n, target := range session.Files {
		if m.err == nil {
			_, m.err = g.Put(m.ctx, target, files[n].Body)
		}
	}
	return func(ctx context.Context, _ int) error {
		_, err := g.Finalize(ctx, wire.NewKey(), session.UploadSessionID)
		return err
	}
}

// reuses are sessions none of whose files has to come, because the workspace has them. It waits until sessions find
// what was published: the hosts let them a moment later.
func (b *bench) reuses(ctx context.Context) ([]operation, error) {
	known := marked("known")
	ctx, cancel := context.WithTimeout(ctx, limits.UploadPatience+20*time.Second)
	defer cancel()
	if _, err := prepare(ctx, b, len(b.agents), func(m *maker) shown {
		s := m.show(b.agents[m.n], known...)
		for reused := false; m.err == nil && !reused; pause(ctx, 100*time.Millisecond) {
			var session contract.Session
			session, m.err = s.Create(ctx, wire.NewKey(), wire.Declare("Report", known...))
			reused = !slices.ContainsFunc(session.Files, func(f contract.UploadTarget) bool { return f.Status != "reused" })
		}
		return s
	}); err != nil {
		return nil, err
	}
	return b.sessions(func() []wire.File { return known })(ctx)
}

// patch is a session on a revision of ten files, of which one is changed by a diff that has come.
func (m *maker) patch() operation {
	before := site()[1]
	after := bytes.Replace(before.Body, []byte("40em"), []byte("60em"), 1)
	diff := []byte(udiff.Unified(before.Path, before.Path, string(before.Body), string(after)))
	s := m.show(m.inTurn(m.n), append(tenFiles()[:9], before)...)
	return m.uploaded(s.Agent, contract.CreateSession{
		ArtifactID:     s.ArtifactID,
		BaseRevisionID: s.RevisionID,
		Title:          "Report",
		Entrypoint:     "index.html",
		Files: []contract.DeclaredFile{{Path: before.Path, SizeBytes: int64(len(diff)), Patch: &contract.DeclaredPatch{
			BaseSHA256: wire.Digest(before.Body), Format: "unified", ResultSHA256: wire.Digest(after),
		}}},
	}, []wire.File{{Path: before.Path, Body: diff}})
}
