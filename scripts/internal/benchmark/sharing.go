package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"github.com/aymanbagabas/go-udiff"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

// sharingRoutes are the rows of links and of artifacts that change after they were published.
func (b *bench) sharingRoutes() []row {
	return []row{
		{name: "link-create", title: "POST link, to a revision", stock: b.linkCreations},
		{name: "link-mint", title: "POST link mint", stock: b.linkTasks(http.StatusOK, "POST", func(l contract.CreatedLink) string {
			return "/v1/access-links/" + string(l.ID) + "/mint"
		})},
		{name: "link-list", title: "GET links of an artifact", stock: b.linkTasks(http.StatusOK, "GET", func(l contract.CreatedLink) string {
			return "/v1/artifacts/" + string(l.ArtifactID) + "/access-links"
		})},
		{name: "link-revoke", title: "POST link revoke", stock: b.linkTasks(http.StatusOK, "POST", func(l contract.CreatedLink) string {
			return "/v1/access-links/" + string(l.ID) + "/revoke"
		})},
		{name: "visibility", title: "PUT visibility, private and unlisted in turn", stock: b.visibilities},
		{name: "rename", title: "PATCH title", stock: b.renamings},
		{
			name:     "finalize-patch",
			title:    "POST finalize, a patch and 9 files of the base",
			designed: "6 / 6 / 23",
			stock:    b.patches,
		},
	}
}

// shown is a published artifact with whose it is.
type shown struct {
	*wire.Agent
	contract.Published
}

func (s shown) path(verb string) string {
	return s.At.APIURL + "/v1/artifacts/" + string(s.ArtifactID) + verb
}

// publishes makes artifacts of one file, in turn in the workspaces of the clients.
func (b *bench) publishes(ctx context.Context, n int) ([]shown, error) {
	return each(ctx, n, func(ctx context.Context, i int) (shown, error) { return b.show(ctx, i, site()[:1]) })
}

func (b *bench) show(ctx context.Context, i int, files []wire.File) (shown, error) {
	g := b.inTurn(i)
	p, err := g.PublishFiles(ctx, "Report", "", files...)
	return shown{g, p}, err
}

// changes are tasks on artifacts, some on each, so that what one has does not grow much.
func (b *bench) changes(ctx context.Context, of func(s shown, turn int) task) (tasks []task, err error) {
	const turns = 4
	all, err := b.publishes(ctx, b.stocked()/turns)
	for turn := range turns {
		for _, s := range all {
			tasks = append(tasks, of(s, turn))
		}
	}
	return tasks, err
}

func (s shown) toRevision() contract.CreateLink {
	return contract.CreateLink{Type: "revision", RevisionID: s.RevisionID}
}

func (b *bench) linkCreations(ctx context.Context) ([]task, error) {
	return b.changes(ctx, func(s shown, _ int) task {
		return commanding(s.Agent, http.StatusCreated, "POST", s.path("/access-links"), s.toRevision())
	})
}

// linkTasks are requests about links, each of an artifact of its own.
func (b *bench) linkTasks(status int, method string, path func(contract.CreatedLink) string) func(context.Context) ([]task, error) {
	return func(ctx context.Context) ([]task, error) {
		all, err := b.publishes(ctx, b.stocked())
		if err != nil {
			return nil, err
		}
		return each(ctx, b.stocked(), func(ctx context.Context, n int) (task, error) {
			s := all[n]
			var made contract.CreatedLink
			a, err := s.Do(ctx, "POST", s.path("/access-links"), s.toRevision(), "Idempotency-Key", wire.NewKey())
			err = unpack(a, err, http.StatusCreated, &made)
			return once(asking(s.Agent, status, method, s.At.APIURL+path(made))), err
		})
	}
}

func (b *bench) visibilities(ctx context.Context) ([]task, error) {
	words := [2]string{"private", "unlisted"} // the publication has shared it
	return b.changes(ctx, func(s shown, turn int) task {
		return commanding(s.Agent, http.StatusOK, "PUT", s.path("/visibility"), contract.SetVisibility{Visibility: words[turn%2]})
	})
}

func (b *bench) renamings(ctx context.Context) ([]task, error) {
	return b.changes(ctx, func(s shown, turn int) task {
		return commanding(s.Agent, http.StatusOK, "PATCH", s.path("/display-metadata"), contract.UpdateMetadata{Title: fmt.Sprint("Report ", turn)})
	})
}

// patches are sessions on a revision of ten files, of which one is changed by a diff that has come.
func (b *bench) patches(ctx context.Context) ([]task, error) {
	return each(ctx, b.stocked(), func(ctx context.Context, n int) (task, error) {
		before := site()[1]
		after := bytes.Replace(before.Body, []byte("40em"), []byte("60em"), 1)
		diff := []byte(udiff.Unified(before.Path, before.Path, string(before.Body), string(after)))
		s, err := b.show(ctx, n, append(tenFiles()[:9], before))
		if err != nil {
			return nil, err
		}
		session, err := s.Create(ctx, wire.NewKey(), contract.CreateSession{
			ArtifactID:     s.ArtifactID,
			BaseRevisionID: s.RevisionID,
			Title:          "Report",
			Entrypoint:     "index.html",
			Files: []contract.DeclaredFile{{Path: before.Path, SizeBytes: int64(len(diff)), Patch: &contract.DeclaredPatch{
				BaseSHA256: wire.Digest(before.Body), Format: "unified", ResultSHA256: wire.Digest(after),
			}}},
		})
		if err == nil {
			_, err = s.Put(ctx, session.Files[0], diff)
		}
		return func(ctx context.Context) error {
			_, err := s.Finalize(ctx, wire.NewKey(), session.UploadSessionID)
			return err
		}, err
	})
}
