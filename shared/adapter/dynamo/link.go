package dynamo

import (
	"context"
	"errors"
	"time"

	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/sharing"
)

// Links stores the access links of artifacts.
type Links struct {
	*db
	metadata
}

var (
	_ sharing.Changes = Links{}
	_ sharing.Links   = Links{}
)

func linkItem(l link.Link) item {
	return encode(linkKey(l.Public), &l, linkFields).
		str("g1p", linksOf(l.Workspace)).str("g1s", linkSort(l.CreatedAt, l.Public, l.Artifact)).
		str("g2p", linksOfArtifact(l.Artifact)).str("g2s", timeKey(l.CreatedAt, l.Public))
}

func linkFields(f fields, l *link.Link) {
	text(f, "id", &l.ID)
	text(f, "ws", &l.Workspace)
	text(f, "art", &l.Artifact)
	text(f, "cur", &l.Revision)
	text(f, "kind", &l.Kind)
	f.life(&l.CreatedAt, &l.ExpiresAt)
	f.time("rev_at", &l.RevokedAt)
	f.flag("comments", &l.Comments)
}

func readLink(i item, p id.Public) *link.Link {
	return decode(i, &link.Link{Public: p}, linkFields)
}

// Link implements sharing.Links.
func (s Links) Link(ctx context.Context, p id.Public) (*link.Link, error) {
	i, err := s.get(ctx, linkKey(p))
	return readLink(i, p), err
}

// requireNewestLink adds the conditions that a link made at an instant is newer than every revocation of all links, and
// at least as new as any other link.
func (u *artifactUpdate) requireNewestLink(made time.Time) {
	u.values["links_at"] = made
	u.require("(attribute_not_exists(#links_closed) OR #links_closed < :links_at)")
	u.require("(attribute_not_exists(#links_at) OR #links_at <= :links_at)")
}

// requireUnshared adds the condition that the artifact has no share link, or only over, which has ended.
func (u *artifactUpdate) requireUnshared(over id.Public) {
	if over == "" {
		u.requireAbsent("share")
		return
	}
	u.values["over"] = string(over)
	u.require("(attribute_not_exists(#share) OR #share = :over)")
}

// Create implements sharing.Changes.
func (s Links) Create(ctx context.Context, c sharing.Creation) error {
	l := c.Link
	t := s.begin()
	if c.Command != nil {
		t.finish(*c.Command, c.Result, c.At)
	}
	t.updateArtifact(updateForLink(c), moved)
	if l.Kind == link.Revision {
		t.check(revisionKey(l.Artifact, l.Revision), "#status = :published",
			values{"published": string(artifact.Published)}, func(item) error { return sharing.NoRevision() })
	}
	t.checkFence(l.Workspace)
	t.create(linkItem(l))
	t.record(c.Event)
	return s.commit(ctx, t)
}

// updateForLink returns what a new link changes in its artifact.
func updateForLink(c sharing.Creation) *artifactUpdate {
	l := c.Link
	u := updateLive(l.Artifact)
	u.set("links_at", l.CreatedAt)
	u.require("attribute_exists(#cur)")
	u.requireAbsent("lock", "links_off")
	u.requireNewestLink(l.CreatedAt)
	u.requireOwner(l.Workspace, c.From)
	if c.From == "" { // otherwise the artifact ends when the claim said
		u.require("(#exp > :now OR attribute_exists(#pin_at))")
		u.values["now"] = c.At
	}
	if l.Kind != link.Share {
		return u
	}
	u.set("share", string(l.Public))
	u.requireUnshared(c.Replaces)
	if l.ExpiresAt.IsZero() {
		u.remove("share_exp")
	} else {
		u.set("share_exp", l.ExpiresAt)
	}
	return u
}

// RecordNoop implements sharing.Changes.
func (s Links) RecordNoop(ctx context.Context, c sharing.Creation) error {
	return s.commit(ctx, s.answeredWith(c))
}

// SetComments implements sharing.Changes. A link that was revoked meanwhile is no longer that of its artifact.
func (s Links) SetComments(ctx context.Context, c sharing.Creation) error {
	l := c.Link
	t := s.answeredWith(c)
	v := values{"id": string(l.ID)}
	change := "REMOVE #comments"
	if l.Comments {
		change = "SET #comments = :on"
		v["on"] = true
	}
	t.update(linkKey(l.Public), change, "#id = :id AND attribute_not_exists(#rev_at)", v, moved)
	t.record(c.Event)
	return s.commit(ctx, t)
}

// answeredWith returns a transaction that answers a command with the existing share link.
func (s Links) answeredWith(c sharing.Creation) *transaction {
	u := updateLive(c.Link.Artifact)
	u.requireValue("share", string(c.Link.Public))
	u.requireAbsent("lock", "links_off")
	u.requireOwner(c.Link.Workspace, c.From)
	t := s.begin()
	t.finish(*c.Command, c.Result, c.At)
	t.checkArtifact(u, moved)
	t.checkFence(c.Link.Workspace)
	return t
}

// errUnshared means that the link is not, or not any more, the share link of its artifact.
var errUnshared = errors.New("the artifact has another share link, or none")

// Revoke implements sharing.Changes. Revoking a share link also removes the pointer in its artifact, if it still points
// there.
func (s Links) Revoke(ctx context.Context, r sharing.Revocation) (time.Time, error) {
	at, err := s.tryRevoke(ctx, r, r.Link.Kind == link.Share)
	if errors.Is(err, errUnshared) {
		at, err = s.tryRevoke(ctx, r, false)
	}
	return at, err
}

func (s Links) tryRevoke(ctx context.Context, r sharing.Revocation, shared bool) (time.Time, error) {
	l, at := r.Link, millis(r.At)
	var first time.Time
	t := s.begin()
	t.update(linkKey(l.Public), "SET #rev_at = :now", "#id = :id AND attribute_not_exists(#rev_at)",
		values{"now": at, "id": string(l.ID)}, func(old item) error {
			first = old.getTime("rev_at")
			return errRevoked
		})
	u := updateArtifact(l.Artifact)
	u.require("(attribute_not_exists(#links_closed) OR #links_closed < :made)")
	u.values["made"] = l.CreatedAt
	closed := func(old item) error {
		if c := old.getTime("links_closed"); !c.Before(l.CreatedAt) && !c.IsZero() {
			first = c
			return errRevoked
		}
		return errUnshared
	}
	if shared {
		u.requireValue("share", string(l.Public))
		u.remove("share", "share_exp")
		t.updateArtifact(u, closed)
	} else {
		t.checkArtifact(u, closed)
	}
	t.checkFence(r.Event.Workspace)
	t.record(r.Event)
	return s.commitOnce(ctx, t, &first, at)
}

// RevokeAll implements sharing.Changes.
func (s Links) RevokeAll(ctx context.Context, c sharing.Closing) error {
	u := updateLive(c.Artifact.ID)
	u.set("links_closed", c.At)
	u.set("views_closed", c.Artifact.Number)
	u.remove("share", "share_exp")
	u.requireOwner(c.Event.Workspace, c.Artifact.ClaimedFrom)
	if c.Artifact.NewestLinkAt.IsZero() {
		u.requireAbsent("links_at")
	} else {
		u.requireValue("links_at", c.Artifact.NewestLinkAt)
	}
	if c.Artifact.Number == 0 {
		u.require("(attribute_not_exists(#no) OR #no = :views_closed)")
	} else {
		u.require("#no = :views_closed")
	}
	t := s.begin()
	t.updateArtifact(u, moved)
	t.checkFence(c.Event.Workspace)
	t.record(c.Event)
	return s.commit(ctx, t)
}

// Lock implements sharing.Changes.
func (s Links) Lock(ctx context.Context, l sharing.Lock) error {
	u := updateLive(l.Artifact.ID)
	u.requireOwner(l.Event.Workspace, l.Artifact.ClaimedFrom)
	u.requirePresence("links_off", l.Lift != l.Noop)
	t := s.begin()
	t.finish(l.Command, l.Result, l.At)
	if l.Noop {
		t.checkArtifact(u, moved)
		t.checkFence(l.Event.Workspace)
		return s.commit(ctx, t)
	}
	if l.Lift {
		u.remove("links_off")
	} else {
		u.set("links_off", l.At)
	}
	t.updateArtifact(u, moved)
	t.record(l.Event)
	t.checkFence(l.Event.Workspace)
	return s.commit(ctx, t)
}

// Artifacts implements sharing.Links.
func (s Links) Artifacts(ctx context.Context, of []id.Artifact) (map[id.Artifact]*artifact.Artifact, error) {
	keys := make([]key, len(of))
	for n, a := range of {
		keys[n] = artifactKey(a)
	}
	f, err := s.all(ctx, keys, false)
	if err != nil {
		return nil, err
	}
	out := make(map[id.Artifact]*artifact.Artifact, len(of))
	for n, a := range of {
		if read := readArtifact(f.at(keys[n]), a); read != nil {
			out[a] = read
		}
	}
	return out, nil
}

// List implements sharing.Links. The links of an artifact are listed under its ID, in any workspace. For the links of a
// workspace, List reads partitions as Artifacts.List does and for the same reasons: those of the sources of a claim
// before the workspace's own.
func (s Links) List(ctx context.Context, q sharing.Query) ([]link.Link, string, error) {
	if q.Artifact != "" {
		return s.linksTo(ctx, q)
	}
	var rows []link.Link
	var next string
	var err error
	sources, again, unknown := s.sourcesBeside(ctx, q.Workspace, q.Claimed, func() {
		rows, next, err = s.linksIn(ctx, q, q.Workspace)
	})
	if unknown != nil {
		return nil, "", unknown
	}
	if again {
		var all []id.Workspace
		for _, source := range sources {
			all = append(all, source.ID)
		}
		rows, next, err = s.linksIn(ctx, q, append(all, q.Workspace)...)
	}
	return rows, next, err
}

// linksTo reads the links of an artifact. Their index has only keys.
func (s Links) linksTo(ctx context.Context, q sharing.Query) ([]link.Link, string, error) {
	parts := []partition{{dueIndex, linksOfArtifact(q.Artifact), q.After}}
	listed, next, err := pageOf(ctx, s.db, parts, q.Limit, func(_ context.Context, found []item) (map[string]key, error) {
		rows := make(map[string]key, len(found))
		for _, i := range found {
			rows[i.getStr("g2s")] = i.key()
		}
		return rows, nil
	})
	if err != nil {
		return nil, "", err
	}
	f, err := s.all(ctx, listed, false)
	if err != nil {
		return nil, "", err
	}
	out := make([]link.Link, 0, len(listed))
	for _, k := range listed {
		if l := readLink(f.at(k), partitionID[id.Public](k)); l != nil { // otherwise the index is ahead of this copy
			l.Workspace = q.Workspace
			out = append(out, *l)
		}
	}
	return out, next, nil
}

// linksIn reads the links that the partitions of several workspaces hold together.
func (s Links) linksIn(ctx context.Context, q sharing.Query, of ...id.Workspace) ([]link.Link, string, error) {
	parts := make([]partition, len(of))
	for n, w := range of {
		parts[n] = partition{listIndex, linksOf(w), q.After}
	}
	rows, next, err := pageOf(ctx, s.db, parts, q.Limit,
		func(_ context.Context, found []item) (map[string]link.Link, error) {
			rows := make(map[string]link.Link, len(found))
			for _, i := range found {
				l := readLink(i, partitionID[id.Public](i.key()))
				l.Artifact, l.Workspace = linkedArtifact(i.getStr("g1s")), q.Workspace
				rows[i.getStr("g1s")] = *l
			}
			return rows, nil
		})
	link.Sort(rows) // links of older code have other sort keys
	return rows, next, err
}
