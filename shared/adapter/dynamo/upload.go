package dynamo

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/upload"
)

// Uploads stores upload sessions.
type Uploads struct {
	*db
	metadata
	files
}

var (
	_ upload.Finalizations = Uploads{}
	_ upload.Sessions      = Uploads{}
)

func uploadItem(s upload.Session) item {
	queue, due := firstDue(s)
	return encode(uploadKey(s.ID), &s, uploadFields).str("g2p", queue).str("g2s", due)
}

// firstDue returns the place of a new session in the queue. A session that is finalized soon, as most are, keeps it,
// which saves a write. The jobs move the other ones to the queue of sessions that wait for their end. A session with
// diffs is in that queue from the start.
func firstDue(s upload.Session) (queue, due string) {
	if s.Diffs {
		return endDue(s)
	}
	return queueOf(uploadDue, string(s.ID)), millisKey(s.CreatedAt.Add(limits.UploadPatience))
}

// endDue returns the place in the queue of a session that waits for its end.
func endDue(s upload.Session) (queue, due string) {
	return queueOf(sessionDue, string(s.ID)), millisKey(s.ExpiresAt.Add(limits.CleanupSlack))
}

// finalDue returns the place in the queue of a session that is finalized at an instant.
func finalDue(s upload.Session, at time.Time) (queue, due string) {
	if !s.Diffs && at.Sub(s.CreatedAt) < limits.UploadPatience {
		return firstDue(s)
	}
	return queueOf(indexDue, string(s.ID)), millisKey(at)
}

// createUpload writes a new session with its entries. They are in one item if it is small and the session brings
// objects, because the end of those objects deletes the entries too.
func (t *transaction) createUpload(s upload.Session, entries []upload.Entry) {
	i, packed := uploadItem(s), packEntries(entries)
	together := slices.ContainsFunc(entries, brings) && i.withFiles(packed)
	t.create(i)
	if !together {
		t.create(newItem(entriesKey(s.ID)).bin(filesName, packed))
	}
}

// brings reports whether an entry is uploaded.
func brings(e upload.Entry) bool { return !e.Reused && !e.Deleted }

// readUpload decodes a session whose entries are in its own item or in another. A session without entries counts as
// missing unless it was finalized, because entries of their own are deleted before their session.
func readUpload(i, entries item, s id.Session) (*upload.Session, []upload.Entry, error) {
	if i == nil {
		return nil, nil, nil
	}
	session := readUploadItem(i, s)
	if i[filesName] != nil {
		entries = i
	}
	if entries == nil && session.Status == upload.Finalized {
		return &session, nil, nil
	}
	if entries == nil {
		return nil, nil, nil
	}
	files, err := unpackEntries(entries.getBin(filesName))
	if err != nil {
		return nil, nil, err
	}
	return &session, files, nil
}

func uploadFields(f fields, u *upload.Session) {
	text(f, "ws", &u.Workspace)
	text(f, "home", &u.Home)
	text(f, "art", &u.Artifact)
	text(f, "rev", &u.Revision)
	f.flag("new", &u.New)
	f.flag("diffs", &u.Diffs)
	text(f, "status", &u.Status)
	f.time("exp", &u.ExpiresAt)
	text(f, "base", &u.Base)
	text(f, "reuses", &u.Reuses)
	text(f, "title", &u.Title)
	text(f, "entry", &u.Entrypoint)
	f.flag("listing", &u.Listing)
	text(f, "app", &u.App)
	text(f, "mode", &u.Mode)
	f.size(&u.FileCount, &u.Size)
	f.millis("life", &u.Life)
	f.time("created", &u.CreatedAt)
}

func readUploadItem(i item, s id.Session) upload.Session {
	return *decode(i, &upload.Session{ID: s}, uploadFields)
}

// Session implements upload.Sessions.
func (s Uploads) Session(ctx context.Context, u id.Session) (*upload.Session, []upload.Entry, error) {
	return s.session(ctx, u)
}

// session reads an upload session with its entries.
func (s *db) session(ctx context.Context, u id.Session) (*upload.Session, []upload.Entry, error) {
	f, err := s.items(ctx, uploadKey(u), entriesKey(u))
	if err != nil {
		return nil, nil, err
	}
	return readUpload(f.at(uploadKey(u)), f.at(entriesKey(u)), u)
}

// Create implements upload.Sessions.
func (s Uploads) Create(ctx context.Context, c upload.Creation) error {
	at := c.Session.CreatedAt
	day := allowance{
		key:  byteAllowanceKey,
		of:   c.Session.Workspace,
		at:   at,
		take: c.Bytes,
		most: c.BytesADay,
	}
	return s.spend(day, func(count spending) error {
		t := s.begin()
		t.finish(c.Command, c.Result, at)
		t.checkFence(c.Session.Workspace)
		count(t)
		t.createUpload(c.Session, c.Entries)
		t.record(c.Event)
		return s.commit(ctx, t)
	})
}

// maxFinalizations is how often a finalization is tried while its artifact changes.
const maxFinalizations = 4

// Finalize implements upload.Finalizations. When the artifact is due depends on when it ends and whether it is pinned.
// Both may have changed since the session was created. The failed transaction then returns the artifact, and the
// finalization is tried again with it.
func (s Uploads) Finalize(ctx context.Context, f upload.Finalization) error {
	expected := artifact.Artifact{Owner: f.Session.Workspace, ExpiresAt: f.Artifact.ExpiresAt}
	var other *otherArtifact
	for range maxFinalizations {
		err := s.finalize(ctx, f, expected)
		if !errors.As(err, &other) {
			return err
		}
		expected = other.artifact
	}
	return unavailable(other)
}

// otherArtifact means that the artifact ends at another time than expected, or that it was pinned or unpinned.
type otherArtifact struct{ artifact artifact.Artifact }

func (o *otherArtifact) Error() string { return "the artifact ends at another time than expected" }

func (s Uploads) finalize(ctx context.Context, f upload.Finalization, expected artifact.Artifact) error {
	t := s.begin()
	t.finishHeld(f.Command, f.Owner, f.Result)
	t.endUpload(f)
	if f.Session.New {
		t.put(artifactItem(f.Artifact), "attribute_not_exists(#pk)", nil, noDraft)
	} else {
		t.takeDraft(f, expected)
	}
	if f.Session.Reuses != "" {
		t.check(revisionKey(f.Artifact.ID, f.Session.Reuses), "#status = :published",
			values{"published": string(artifact.Published)}, func(item) error {
				return fault.New(fault.InvalidRequest,
					"base_revision_not_publishable: the revision whose files are reused is gone; create a new session")
			})
	}
	t.checkFence(f.Session.Workspace)
	t.createRevision(f.Revision, f.Tree)
	t.record(f.Event)
	return s.commit(ctx, t)
}

// endUpload finalizes a session. It makes the rest of its work due instead of its end: the content index and the diffs.
func (t *transaction) endUpload(f upload.Finalization) {
	queue, due := finalDue(f.Session, f.At)
	t.update(uploadKey(f.Session.ID), "SET #status = :finalized, #n = :n, #bytes = :bytes, #g2p = :hints, #g2s = :due",
		"#status = :pending AND #exp > :now", values{
			"n":         f.Session.FileCount,
			"bytes":     f.Session.Size,
			"finalized": string(upload.Finalized),
			"pending":   string(upload.Pending),
			"now":       f.At,
			"hints":     queue,
			"due":       due,
		}, func(old item) error {
			if old == nil {
				return fault.New(fault.UploadSessionNotFound, "the upload session is gone; create a new one")
			}
			return &upload.Settled{Session: readUploadItem(old, f.Session.ID)}
		})
}

// takeDraft gives an existing artifact its one draft, on condition that the artifact is as expected.
func (t *transaction) takeDraft(f upload.Finalization, expected artifact.Artifact) {
	a := f.Artifact
	a.PinnedAt = expected.PinnedAt
	if expected.Owner == f.Session.Workspace || expected.ExpiresAt.After(a.ExpiresAt) {
		a.ExpiresAt = expected.ExpiresAt
	} // otherwise a claim gave it more time: the session knows that, and the artifact does not say so yet
	u := updateLive(a.ID)
	u.set("draft", string(f.Revision.ID))
	u.set("draft_at", f.At)
	u.set("updated", f.At)
	u.set("g2p", queueOf(artifactDue, string(a.ID)))
	u.set("g2s", nextDue(a, limits.DraftLife))
	u.requireAbsent("draft", "lock")
	if f.Current != "" {
		u.requireValue("cur", string(f.Current))
	}
	u.requireValue("exp", expected.ExpiresAt)
	u.requirePresence("pin_at", !expected.PinnedAt.IsZero())
	owned := "#own = :ws AND (#exp > :updated OR attribute_exists(#pin_at))"
	u.values["ws"] = string(f.Session.Workspace)
	if cameByClaim(f) {
		owned = "(" + owned + ") OR #own = :home"
		u.values["home"] = string(f.Session.Home)
	}
	u.require("(" + owned + ")")
	t.updateArtifact(u, func(old item) error { return refuseDraft(f, readArtifact(old, a.ID)) })
}

// cameByClaim reports whether the artifact came by a claim. Such an artifact may still name the source as its owner,
// and end when it did there.
func cameByClaim(f upload.Finalization) bool {
	return f.Session.Home != f.Session.Workspace && f.Artifact.ExpiresAt.After(f.At)
}

// refuseDraft returns why an artifact takes no draft; a is nil if it does not exist.
func refuseDraft(f upload.Finalization, a *artifact.Artifact) error {
	switch {
	case a == nil:
		return artifact.NotFound()
	case f.Current != "" && a.Current != f.Current: // before the draft, which may be of a later attempt of this change
		return artifact.ErrMoved
	case a.Draft != "" && (a.Readable(f.At) || a.Owner != f.Session.Workspace && a.Status == artifact.Live):
		return noDraft(nil)
	case a.Owner == f.Session.Workspace && a.Readable(f.At),
		a.Owner == f.Session.Home && cameByClaim(f) && a.Status == artifact.Live && a.Lock == "":
		return &otherArtifact{*a}
	}
	return artifact.NotFound()
}

func noDraft(item) error {
	return fault.New(fault.DraftRevisionConflict, "the artifact has another unpublished draft; publish that one first")
}

// Claim implements upload.Finalizations.
func (s Uploads) Claim(ctx context.Context, c idempotency.Command, owner string, now, lease time.Time) error {
	held := recordItem(c, now).str("state", inFlight).str("owner", owner).time("lease", lease)
	condition := "attribute_not_exists(#pk) OR #ttl < :seconds OR (#state = :flight AND #lease < :now)"
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                           &s.tables.Hot,
		Item:                                held,
		ConditionExpression:                 &condition,
		ExpressionAttributeNames:            names(condition),
		ExpressionAttributeValues:           values{"seconds": now.Unix(), "flight": inFlight, "now": now}.attributes(),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if old, failed := conditionFailed(err); failed {
		return s.claimedBy(old, owner)
	}
	if err != nil {
		return unavailable(err)
	}
	return nil
}

// claimedBy accepts a claim that the SDK sent twice: the record already has this owner.
func (s *db) claimedBy(old item, owner string) error {
	if old.getStr("owner") == owner && old.getStr("state") == inFlight {
		return nil
	}
	return taken(old)
}

// Release implements upload.Finalizations.
func (s Uploads) Release(ctx context.Context, c idempotency.Command, owner string) error {
	_, err := s.deleteIf(ctx, s.tables.Hot, key{pk: recordKey(c.Key)}, "#owner = :owner AND #state = :flight",
		values{"owner": owner, "flight": inFlight})
	return err
}
