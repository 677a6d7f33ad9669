package dynamo

import (
	"context"
	"errors"
	"time"

	"vitrine/shared/entry/claim"
	"vitrine/shared/identity/workspace"
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
	return newItem(linkKey(l.Public)).
		str("id", string(l.ID)).str("ws", string(l.Workspace)).str("art", string(l.Artifact)).str("cur", string(l.Revision)).
		str("kind", string(l.Kind)).time("created", l.CreatedAt).time("exp", l.ExpiresAt).time("rev_at", l.RevokedAt).
		str("g1p", linksOf(l.Workspace)).str("g1s", linkSort(l.CreatedAt, l.Public, l.Artifact)).
		str("g2p", linksOfArtifact(l.Artifact)).str("g2s", timeKey(l.CreatedAt, l.Public))
}

func readLink(i item, p id.Public) *link.Link {
	if i == nil {
		return nil
	}
	return &link.Link{
		ID:        id.Link(i.getStr("id")),
		Public:    p,
		Workspace: id.Workspace(i.getStr("ws")),
		Artifact:  id.Artifact(i.getStr("art")),
		Revision:  id.Revision(i.getStr("cur")),
		Kind:      link.Kind(i.getStr("kind")),
		CreatedAt: i.getTime("created"),
		ExpiresAt: i.getTime("exp"),
		RevokedAt: i.getTime("rev_at"),
	}
}

// Link implements sharing.Links.
func (s Links) Link(ctx context.Context, p id.Public) (*link.Link, error) {
	i, err := s.get(ctx, s.tables.Core, linkKey(p), true)
	return readLink(i, p), err
}

// newestLink holds while a link that is made at :made is newer than every closing of links, and no older than any link.
const newestLink = "(attribute_not_exists(#links_closed) OR #links_closed < :made) AND (attribute_not_exists(#links_at) OR #links_at <= :made)"

// unsharedBut holds while an artifact has no share link, or only one that is over.
func unsharedBut(v values, over id.Public) string {
	if over == "" {
		return "attribute_not_exists(#share)"
	}
	v["over"] = string(over)
	return "(attribute_not_exists(#share) OR #share = :over)"
}

// Create implements sharing.Changes.
func (s Links) Create(ctx context.Context, c sharing.Creation) error {
	var t transaction
	if c.Command != nil {
		s.finish(&t, *c.Command, c.Result, c.At)
	}
	l := c.Link
	set, gone := "SET #links_at = :made", ""
	v := values{"made": l.CreatedAt, "live": string(artifact.Live), "now": c.At, "one": 1}
	condition := "#status = :live AND attribute_exists(#cur) AND attribute_not_exists(#lock) AND attribute_not_exists(#links_off) AND " +
		newestLink + " AND " + ownedBy(v, l.Workspace, c.From)
	if c.From == "" { // else it ends as the claim said
		condition += " AND (#exp > :now OR attribute_exists(#pin_at))"
	} else {
		delete(v, "now")
	}
	if l.Kind == link.Share {
		set += ", #share = :share"
		condition += " AND " + unsharedBut(v, c.Replaces)
		v["share"] = string(l.Public)
		if l.ExpiresAt.IsZero() {
			gone = " REMOVE #share_exp"
		} else {
			set += ", #share_exp = :until"
			v["until"] = l.ExpiresAt
		}
	}
	t.update(s.tables.Core, artifactKey(l.Artifact), set+gone+" ADD #ver :one", condition, v, moved)
	if l.Kind == link.Revision {
		t.check(s.tables.Core, revisionKey(l.Artifact, l.Revision), "#status = :published", values{"published": string(artifact.Published)},
			func(item) error { return sharing.NoRevision() })
	}
	s.checkFence(&t, l.Workspace)
	t.create(s.tables.Core, linkItem(l))
	t.create(s.tables.Events, eventItem(c.Event))
	return s.commit(ctx, &t)
}

// RecordNoop implements sharing.Changes.
func (s Links) RecordNoop(ctx context.Context, c sharing.Creation) error {
	var t transaction
	s.finish(&t, *c.Command, c.Result, c.At)
	v := values{"live": string(artifact.Live), "share": string(c.Link.Public)}
	t.check(s.tables.Core, artifactKey(c.Link.Artifact),
		"#status = :live AND #share = :share AND attribute_not_exists(#lock) AND attribute_not_exists(#links_off) AND "+ownedBy(v, c.Link.Workspace, c.From), v, moved)
	s.checkFence(&t, c.Link.Workspace)
	return s.commit(ctx, &t)
}

// errUnshared says that an artifact does not name a link as its share link.
var errUnshared = errors.New("the artifact has another share link, or none")

// Revoke implements sharing.Changes. What a share link is revoked with is its artifact's pointer, if it is still there.
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
	var t transaction
	t.update(s.tables.Core, linkKey(l.Public), "SET #rev_at = :now", "#id = :id AND attribute_not_exists(#rev_at)",
		values{"now": at, "id": string(l.ID)}, func(old item) error {
			first = old.getTime("rev_at")
			return errRevoked
		})
	open := "(attribute_not_exists(#links_closed) OR #links_closed < :made)"
	closed := func(old item) error {
		if c := old.getTime("links_closed"); !c.Before(l.CreatedAt) && !c.IsZero() {
			first = c
			return errRevoked
		}
		return errUnshared
	}
	if shared {
		t.update(s.tables.Core, artifactKey(l.Artifact), "REMOVE #share, #share_exp ADD #ver :one", "#share = :share AND "+open,
			values{"share": string(l.Public), "made": l.CreatedAt, "one": 1}, closed)
	} else {
		t.check(s.tables.Core, artifactKey(l.Artifact), open, values{"made": l.CreatedAt}, closed)
	}
	s.checkFence(&t, r.Event.Workspace)
	t.create(s.tables.Events, eventItem(r.Event))
	return s.commitOnce(ctx, &t, &first, at)
}

// RevokeAll implements sharing.Changes.
func (s Links) RevokeAll(ctx context.Context, c sharing.Closing) error {
	var t transaction
	v := values{"at": c.At, "live": string(artifact.Live), "one": 1}
	condition := "#status = :live AND " + ownedBy(v, c.Event.Workspace, c.Artifact.ClaimedFrom)
	if c.Artifact.NewestLinkAt.IsZero() {
		condition += " AND attribute_not_exists(#links_at)"
	} else {
		condition += " AND #links_at = :newest"
		v["newest"] = c.Artifact.NewestLinkAt
	}
	if v["no"] = c.Artifact.Number; c.Artifact.Number == 0 {
		condition += " AND (attribute_not_exists(#no) OR #no = :no)"
	} else {
		condition += " AND #no = :no"
	}
	set := "SET #links_closed = :at, #views_closed = :no REMOVE #share, #share_exp ADD #ver :one"
	t.update(s.tables.Core, artifactKey(c.Artifact.ID), set, condition, v, moved)
	s.checkFence(&t, c.Event.Workspace)
	t.create(s.tables.Events, eventItem(c.Event))
	return s.commit(ctx, &t)
}

// Lock implements sharing.Changes.
func (s Links) Lock(ctx context.Context, l sharing.Lock) error {
	var t transaction
	s.finish(&t, l.Command, l.Result, l.At)
	v := values{"live": string(artifact.Live), "one": 1}
	condition := "#status = :live AND " + ownedBy(v, l.Event.Workspace, l.Artifact.ClaimedFrom)
	set := "SET #links_off = :now ADD #ver :one"
	if l.Lift {
		set = "REMOVE #links_off ADD #ver :one"
	} else if !l.Noop {
		v["now"] = l.At
	}
	if l.Lift == l.Noop {
		condition += " AND attribute_not_exists(#links_off)"
	} else {
		condition += " AND attribute_exists(#links_off)"
	}
	if l.Noop {
		delete(v, "one")
		t.check(s.tables.Core, artifactKey(l.Artifact.ID), condition, v, moved)
	} else {
		t.update(s.tables.Core, artifactKey(l.Artifact.ID), set, condition, v, moved)
		t.create(s.tables.Events, eventItem(l.Event))
	}
	s.checkFence(&t, l.Event.Workspace)
	return s.commit(ctx, &t)
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

// List implements sharing.Links. Those of an artifact are under its id, whoever has it. For those of a workspace it reads
// partitions as List does, for the same reasons: those of a claim's source before the workspace's own, which are all
// without one.
func (s Links) List(ctx context.Context, q sharing.Query) ([]link.Link, string, error) {
	if q.Artifact != "" {
		return s.linksTo(ctx, q)
	}
	var claimed []workspace.Workspace
	asked, start := make(chan error, 1), time.Now()
	go func() {
		var err error
		if q.Claimed {
			claimed, err = s.sources(ctx, q.Workspace)
		}
		asked <- err
	}()
	rows, next, err := s.linksIn(ctx, q, q.Workspace)
	if unknown := <-asked; unknown != nil {
		return nil, "", unknown
	}
	if q.Claimed && (len(claimed) > 0 || time.Since(start) > claim.Recheck/2) {
		var all []id.Workspace
		for _, source := range claimed {
			all = append(all, source.ID)
		}
		rows, next, err = s.linksIn(ctx, q, append(all, q.Workspace)...)
	}
	return rows, next, err
}

// linksTo reads links of an artifact. The index has nothing but their keys.
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
		if l := readLink(f.at(k), named[id.Public](k)); l != nil { // else the index is ahead of this copy
			l.Workspace = q.Workspace
			out = append(out, *l)
		}
	}
	return out, next, nil
}

// linksIn reads links that the partitions of workspaces hold together.
func (s Links) linksIn(ctx context.Context, q sharing.Query, of ...id.Workspace) ([]link.Link, string, error) {
	parts := make([]partition, len(of))
	for n, w := range of {
		parts[n] = partition{listIndex, linksOf(w), q.After}
	}
	rows, next, err := pageOf(ctx, s.db, parts, q.Limit, func(_ context.Context, found []item) (map[string]link.Link, error) {
		rows := make(map[string]link.Link, len(found))
		for _, i := range found {
			l := readLink(i, named[id.Public](i.key()))
			l.Artifact, l.Workspace = linkedArtifact(i.getStr("g1s")), q.Workspace
			rows[i.getStr("g1s")] = *l
		}
		return rows, nil
	})
	link.Sort(rows) // those that older code wrote have other places
	return rows, next, err
}
