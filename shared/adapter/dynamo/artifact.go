package dynamo

import (
	"context"

	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/content"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/live"
	"vitrine/shared/publishing/readaccess"
	"vitrine/shared/publishing/view"
)

// Artifacts stores artifacts and their revisions.
type Artifacts struct {
	*db
	metadata
	files
}

var (
	_ artifact.Store   = Artifacts{}
	_ content.Store    = Artifacts{}
	_ readaccess.Store = Artifacts{}
	_ live.Store       = Artifacts{}
	_ view.Store       = Artifacts{}
)

func artifactItem(a artifact.Artifact) item {
	return encode(artifactKey(a.ID), &a, artifactFields).
		num("ver", 1).str("g1p", artifactsOf(a.Owner)).str("g1s", timeKey(a.CreatedAt, a.ID)).
		str("g2p", queueOf(artifactDue, string(a.ID))).str("g2s", nextDue(a, limits.DraftLife))
}

func artifactFields(f fields, a *artifact.Artifact) {
	text(f, "own", &a.Owner)
	text(f, "home", &a.StorageWorkspace)
	text(f, "status", &a.Status)
	f.time("exp", &a.ExpiresAt)
	f.time("pin_at", &a.PinnedAt)
	text(f, "lock", &a.Lock)
	f.time("lock_at", &a.LockedAt)
	f.time("links_off", &a.LinksLockedAt)
	text(f, "cur", &a.Current)
	integer(f, "no", &a.Number)
	text(f, "draft", &a.Draft)
	f.time("draft_at", &a.DraftAt)
	text(f, "share", &a.ShareLink)
	text(f, "title", &a.Title)
	text(f, "entry", &a.Entrypoint)
	text(f, "app", &a.App)
	f.size(&a.FileCount, &a.Size)
	f.time("created", &a.CreatedAt)
	f.time("updated", &a.UpdatedAt)
	f.time("pub_at", &a.PublishedAt)
	f.time("deleted", &a.DeletedAt)
	f.time("share_exp", &a.ShareLinkUntil)
	f.time("links_at", &a.NewestLinkAt)
	f.time("links_closed", &a.LinksRevokedBefore)
	integer(f, "views_closed", &a.ViewsRevokedBefore)
}

func readArtifact(i item, a id.Artifact) *artifact.Artifact {
	return decode(i, &artifact.Artifact{ID: a}, artifactFields)
}

func revisionItem(r artifact.Revision) item {
	return encode(revisionKey(r.Artifact, r.ID), &r, revisionFields)
}

func revisionFields(f fields, r *artifact.Revision) {
	text(f, "status", &r.Status)
	integer(f, "no", &r.Number)
	text(f, "title", &r.Title)
	text(f, "entry", &r.Entrypoint)
	f.flag("entered", &r.EntrypointExists)
	f.flag("listing", &r.Listing)
	text(f, "app", &r.App)
	text(f, "mode", &r.Mode)
	f.size(&r.FileCount, &r.Size)
	f.time("created", &r.CreatedAt)
	f.time("pub_at", &r.PublishedAt)
	text(f, "source", &r.Source)
	text(f, "upl", &r.Session)
	f.report(lintName, &r.Warnings)
	bundleFields(f, &r.Bundle)
}

func readRevision(i item, a id.Artifact, r id.Revision) *artifact.Revision {
	return decode(i, &artifact.Revision{ID: r, Artifact: a}, revisionFields)
}

// Publish implements artifact.Publications.
func (s Artifacts) Publish(ctx context.Context, p artifact.Publication) error {
	day := allowance{
		key:  allowanceKey,
		of:   p.Workspace,
		at:   p.At,
		most: int64(p.Allowance),
	}
	if p.First {
		day.take = 1
	}
	return s.spend(day, func(count spending) error { return s.publish(ctx, p, count) })
}

func (s Artifacts) publish(ctx context.Context, p artifact.Publication, count spending) error {
	t := s.begin()
	t.finish(p.Command, p.Result, p.At)
	t.moveCurrent(p)
	set, v := "SET #status = :published, #pub_at = :now, #no = :no", values{
		"published": string(artifact.Published),
		"now":       p.At,
		"no":        p.Number,
		"draft":     string(artifact.Draft),
	}
	if p.Bundle {
		set += ", #bstat = :pending, #g2p = :queue, #g2s = :due"
		v["pending"] = string(artifact.BundlePending)
		v["queue"] = queueOf(bundleDue, string(p.Revision.ID))
		v["due"] = millisKey(p.At)
	}
	t.update(revisionKey(p.Artifact, p.Revision.ID), set, "#status = :draft", v, moved)
	t.checkFence(p.Workspace)
	count(t)
	if p.Share != nil {
		t.create(linkItem(link.Link{
			ID:        p.Share.ID,
			Public:    p.Share.Public,
			Workspace: p.Workspace,
			Artifact:  p.Artifact,
			Kind:      link.Share,
			CreatedAt: p.Share.At,
		}))
	}
	t.record(p.Event)
	t.closeThreads(p)
	return s.commit(ctx, t)
}

// Restore implements artifact.Restorations.
func (s Artifacts) Restore(ctx context.Context, r artifact.Restoration) error {
	t := s.begin()
	p := r.Publication
	t.finish(p.Command, p.Result, p.At)
	t.moveCurrent(p)
	t.check(revisionKey(p.Artifact, p.Revision.Source), "#status = :published",
		values{"published": string(artifact.Published)}, moved)
	t.checkFence(p.Workspace)
	t.createRevision(p.Revision, r.Files)
	t.record(p.Event)
	return s.commit(ctx, t)
}

// moveCurrent makes a revision the current one: the draft or, with p.Republish, an older revision.
func (t *transaction) moveCurrent(p artifact.Publication) {
	u := updateLive(p.Artifact)
	u.set("cur", string(p.Revision.ID))
	u.set("no", p.Number)
	u.set("entry", p.Revision.Entrypoint)
	if p.Revision.App == artifact.NoApp {
		u.remove("app")
	} else {
		u.set("app", string(p.Revision.App))
	}
	u.set("n", p.Revision.FileCount)
	u.set("bytes", p.Revision.Size)
	u.set("updated", p.At)
	u.set("pub_at", p.At)
	u.remove("draft", "draft_at")
	u.require("(attribute_not_exists(#no) OR #no = :was_no)")
	u.values["was_no"] = p.Number - 1
	u.requireAbsent("lock")
	if p.Republish { // a restored revision does not change the title
		u.requireDraft("")
	} else {
		u.requireDraft(p.Revision.ID)
		u.set("title", p.Revision.Title)
	}
	u.requirePresence("pin_at", p.Pinned)
	if p.Pinned || !limits.Ends(p.ExpiresAt) { // only its draft was due
		u.unschedule()
	} else {
		u.set("g2s", millisKey(p.ExpiresAt))
	}
	u.requireOwner(p.Workspace, p.ClaimedFrom)
	if p.ClaimedFrom == "" {
		u.require("(#exp > :updated OR attribute_exists(#pin_at))")
	} else { // the artifact ends when the claim said, whether it was moved meanwhile or not
		u.move(p.Workspace)
	}
	if p.Renews || p.ClaimedFrom != "" {
		u.set("exp", p.ExpiresAt)
	}
	if p.Share != nil {
		u.set("share", string(p.Share.Public))
		u.set("links_at", p.Share.At)
		u.remove("share_exp")
		u.requireUnshared(p.Share.Replaces)
		u.requireNewestLink(p.Share.At)
	}
	t.updateArtifact(u, func(old item) error {
		if a := readArtifact(old, p.Artifact); p.ClaimedFrom == "" && (!a.Readable(p.At) || a.Owner != p.Workspace) {
			return artifact.NotFound()
		}
		return artifact.ErrMoved
	})
}

// Draft implements artifact.Publications.
func (s Artifacts) Draft(
	ctx context.Context, a id.Artifact, r id.Revision,
) (*artifact.Artifact, *artifact.Revision, error) {
	b := batch{strong: true}
	b.want(artifactKey(a))
	b.want(revisionKey(a, r))
	f, err := s.read(ctx, b)
	return readArtifact(f.at(artifactKey(a)), a), readRevision(f.at(revisionKey(a, r)), a, r), err
}

// Delete implements artifact.Deletions.
func (s Artifacts) Delete(ctx context.Context, d artifact.Deletion) error {
	pinned := !d.Artifact.PinnedAt.IsZero()
	u := updateLive(d.Artifact.ID)
	u.set("status", string(artifact.Deleted))
	u.set("deleted", d.At)
	u.set("updated", d.At)
	u.set("g1p", deletedOf(d.Workspace))
	u.set("g2p", queueOf(purgeDue, string(d.Artifact.ID)))
	u.set("g2s", millisKey(d.At))
	u.remove("share", "share_exp", "draft", "draft_at", "pin_at")
	u.requireOwner(d.Workspace, d.Artifact.ClaimedFrom)
	u.requirePresence("pin_at", pinned)
	if d.Artifact.ClaimedFrom != "" { // a claim takes the artifact along, unless it was moved meanwhile
		u.set("own", string(d.Workspace))
		u.set("exp", d.Artifact.ExpiresAt)
	}
	t := s.begin()
	t.finish(d.Command, d.Result, d.At)
	t.updateArtifact(u, moved)
	if pinned {
		t.uncountPin(d.Workspace)
	}
	if err := s.withdraw(ctx, t, d.Workspace, d.Artifact.CreatedAt, d.At, moved); err != nil {
		return err
	}
	t.checkFence(d.Workspace)
	t.record(d.Event)
	return s.commit(ctx, t)
}

func moved(item) error { return artifact.ErrMoved }

// ReadState implements readaccess.Store.
func (s Artifacts) ReadState(ctx context.Context, n readaccess.Query) (readaccess.State, error) {
	return s.readState(ctx, n, true)
}

// ReadStateCopy implements live.Store.
func (s Artifacts) ReadStateCopy(ctx context.Context, n readaccess.Query) (readaccess.State, error) {
	return s.readState(ctx, n, false)
}

func (s Artifacts) readState(ctx context.Context, n readaccess.Query, strong bool) (readaccess.State, error) {
	b := batch{strong: strong}
	b.want(workspaceKey(n.Workspace))
	b.want(artifactKey(n.Artifact))
	if n.Link != "" {
		b.want(linkKey(n.Link))
	}
	if n.Feedback {
		b.want(countsKey(n.Artifact))
	}
	f, err := s.read(ctx, b)
	if err != nil {
		return readaccess.State{}, err
	}
	counts := readCounts(f.at(countsKey(n.Artifact)))
	return readaccess.State{
		Workspace:    readWorkspace(f.at(workspaceKey(n.Workspace)), n.Workspace),
		Artifact:     readArtifact(f.at(artifactKey(n.Artifact)), n.Artifact),
		Link:         readLink(f.at(linkKey(n.Link)), n.Link),
		Feedback:     counts.Seq,
		FeedbackHeld: counts.HeldSeq,
	}, nil
}
