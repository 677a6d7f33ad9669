package main

import (
	"bytes"
	"context"
	"io"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/client"
	"vitrine/shared/platform/contract"
)

func (a *app) restoreCommand() *cobra.Command {
	return a.command("restore ARTIFACT REVISION", "Publish an older revision again, or an unfinished draft",
		restoreGuide, exactly(2, "an ARTIFACT and the REVISION to publish again"),
		func(ctx context.Context, args []string) error {
			return a.withOwnArtifact(ctx, args[0], func(ctx context.Context, h *artifactContext) error {
				return h.restore(ctx, args[1])
			})
		})
}

// restore publishes the files of an older revision as a new one. It sends no bytes, because the files are inherited.
func (a *artifactContext) restore(ctx context.Context, name string) error {
	list, err := a.revisions(ctx, paging{limit: maxList})
	if err != nil {
		return err
	}
	for _, r := range list.Items {
		if r.Status == "draft" && string(r.RevisionID) == name {
			return a.finish(ctx, r)
		}
	}
	revision, err := revisionNamed(a.artifact, publishedOf(list), name)
	if err != nil {
		return err
	}
	now, err := a.account.FirstPage(ctx, a.artifact, "")
	if err != nil {
		return err
	}
	if now.RevisionID == revision {
		return a.reportUnchanged(now, "That is already the newest revision; nothing was created")
	}
	old, err := a.account.FirstPage(ctx, a.artifact, revision)
	if err != nil {
		return err
	}
	p := &publication{account: a.account, screen: a.screen, idem: "cli_restore_" + a.newUUID()}
	if err := a.again(ctx, p, old, now.Title); err != nil {
		return err
	}
	return a.report(p)
}

// finish publishes an existing draft as it is.
func (a *artifactContext) finish(ctx context.Context, r contract.RevisionSummary) error {
	p := &publication{account: a.account, screen: a.screen, idem: "cli_restore_" + a.newUUID()}
	p.stats = contract.UploadStats{
		TotalFiles:  r.FileCount,
		TotalBytes:  r.SizeBytes,
		ReusedFiles: r.FileCount,
		ReusedBytes: r.SizeBytes,
	}
	if err := p.publish(ctx, contract.Finalized{ArtifactID: a.artifact, RevisionID: r.RevisionID}); err != nil {
		return err
	}
	return a.report(p)
}

// again publishes an old tree. A manifest must declare at least one file, so it declares the entrypoint, which the first
// page has. That file is sent only if the server has no object with its digest any more.
func (a *artifactContext) again(ctx context.Context, p *publication, old contract.AgentView, title string) error {
	first, err := fileOf(old, old.Entrypoint)
	if err != nil {
		return err
	}
	files, size := totals(old)
	body := func() (io.ReadCloser, error) {
		text, err := a.account.Fetch(ctx, first, maxFile)
		return io.NopCloser(bytes.NewReader(text)), err
	}
	return p.finalizeAndPublish(ctx, contract.CreateSession{
		ArtifactID:     a.artifact,
		BaseRevisionID: old.RevisionID,
		BaseFiles:      baseFiles(old),
		Title:          title,
		Entrypoint:     old.Entrypoint,
		Files:          []contract.DeclaredFile{{Path: first.Path, SizeBytes: first.SizeBytes, SHA256: first.SHA256}},
	}, []client.File{{Path: first.Path, Size: first.SizeBytes, Open: body}}, files, size)
}

const restoreGuide = `vitrine restore ARTIFACT REVISION publishes the files of an older revision as a new one.

  vitrine restore art_00000000000000000000000002 3
  vitrine restore art_00000000000000000000000002 rev_00000000000000000000000011 --json

REVISION is a number or an id (rev_...); vitrine revisions lists them. Nothing is lost: the
revisions in between are kept and can be restored too. The title is kept. The files are not sent
again. The id of an unfinished draft publishes that draft, which otherwise blocks other publishes
for up to 24 hours.
With --json the result is that of publish; for the newest revision, which needs no new one:
{"schema_version":"1","artifact_id":...,"noop":true,"unchanged":true,"title":...,"private_url":...}.
` + targetNote + `.
`
