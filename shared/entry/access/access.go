// Package access authenticates bearer credentials and reads the items of a request with them in one batch.
package access

import (
	"context"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/feedback"
	"vitrine/shared/publishing/upload"
)

// Request names the items of a request, so that one batch reads them with the credential. Its ids come from the client.
// An id of the wrong form counts as one that does not exist.
type Request struct {
	Operation idempotency.Operation // empty: the command is not idempotent
	Target    string                // the target of the operation; part of the record's identity
	Client    string                // the Idempotency-Key; a malformed one is not looked up
	Artifact  id.Artifact
	Revision  id.Revision // of Artifact
	Session   id.Session  // with its files
	Feedback  bool        // the counts of the threads about Artifact, too
	// Deleting admits a member whose workspace is being deleted.
	Deleting bool
}

// Command returns the identity of the idempotency record of a caller's request.
func (r Request) Command(actor string) idempotency.Key {
	return idempotency.Key{
		Actor:     actor,
		Operation: r.Operation,
		Target:    r.Target,
		Client:    r.Client,
	}
}

// Found holds the items that were read. An item that does not exist is nil.
type Found struct {
	Key       *credential.Key
	Workspace *workspace.Workspace
	Record    *idempotency.Record
	Artifact  *artifact.Artifact
	Feedback  *feedback.Counts // nil: they were not wanted
	Revision  *artifact.Revision
	Session   *upload.Session
	Entries   []upload.Entry
}

// Authenticated is an authenticated caller with the items of the request.
type Authenticated struct {
	Actor    credential.Actor
	Member   *member.Member // the actor as a member; nil for an API key
	Record   *idempotency.Record
	Artifact *artifact.Artifact
	Feedback *feedback.Counts // as Found has them
	Revision *artifact.Revision
	Session  *upload.Session
	Entries  []upload.Entry
}

// Store is the storage that Authenticator uses.
type Store interface {
	// Find reads the key, the workspace and the wanted items in one strongly consistent batch. It fails with
	// database_unavailable if an item stays unread, because a missing lock item must never count as unlocked.
	Find(ctx context.Context, key id.Public, w id.Workspace, wants Request) (Found, error)
	// Touch records the last use of a key unless a use after since is recorded.
	Touch(ctx context.Context, k credential.Key, now, since time.Time) error
	artifact.Workspaces
}

// Authenticator authenticates API keys.
type Authenticator struct {
	Store       Store
	Peppers     keyring.Derived
	Limits      *limits.Limits
	Allowlist   workspace.Allowlist // Store has to read what it judges by
	Environment credential.Environment
	Now         func() time.Time
}

// Authenticate authenticates a bearer token. All failures are the same not_authenticated error. Only that of a
// workspace that is being deleted differs, and wraps workspace.ErrDeleting or workspace.ErrRemoved. A malformed token
// costs no read.
func (a *Authenticator) Authenticate(
	ctx context.Context,
	bearer string,
	w Request,
	requestID string,
) (Authenticated, error) {
	token, err := credential.Parse(bearer, credential.APIKey, a.Environment)
	if err != nil {
		return Authenticated{}, refused()
	}
	found, err := a.Store.Find(ctx, token.Public, token.Workspace, w)
	if err != nil {
		return Authenticated{}, err
	}
	key, ws := found.Key, found.Workspace
	if key == nil {
		key = new(credential.Key) // an unknown key costs the same hash as a known one
	}
	// The hash is compared first, so that every refusal costs the same.
	if !token.Matches(key.Hash, a.Peppers) || found.Key == nil || ws == nil {
		return Authenticated{}, refused()
	}
	if key.Workspace == token.Workspace && !a.Allowlist.Admits(*ws, key.Member) {
		return Authenticated{}, a.Allowlist.Hide(refused())
	}
	// Only the holder of a valid key learns that the workspace is being deleted.
	if key.Workspace == token.Workspace && ws.Deleting() {
		return Authenticated{}, ws.RefuseDeleting()
	}
	if key.Workspace != token.Workspace || !ws.Open() || !key.Live(a.Now(), *ws) {
		return Authenticated{}, refused()
	}
	return found.with(ctx, a.Store, w, credential.Actor{
		Key:       *key,
		Scopes:    key.Scopes,
		Workspace: *ws,
		Policy:    a.Limits.Tiers[ws.Tier()],
		RequestID: requestID,
	})
}

// with returns the authenticated caller with the items that were read for a request. An artifact that a claim moved is
// returned with its present owner.
func (f Found) with(
	ctx context.Context, moves artifact.Workspaces, w Request, actor credential.Actor,
) (Authenticated, error) {
	if _, malformed := w.Artifact.Bits(); malformed == nil {
		var err error
		if f.Artifact, err = artifact.Follow(ctx, moves, actor.Workspace, f.Artifact); err != nil {
			return Authenticated{}, err
		}
	}
	return Authenticated{
		Actor:    actor,
		Record:   f.Record,
		Artifact: f.Artifact,
		Feedback: f.Feedback,
		Revision: f.Revision,
		Session:  f.Session,
		Entries:  f.Entries,
	}, nil
}

// Touch records the key's last use if the recorded one is older than limits.TouchEvery. Callers may ignore its error,
// because the next request records the use again.
func (a *Authenticator) Touch(ctx context.Context, by credential.Actor) error {
	now := a.Now()
	since := now.Add(-limits.TouchEvery)
	if by.Key.LastUsedAt.After(since) {
		return nil
	}
	return a.Store.Touch(ctx, by.Key, now, since)
}

func refused() error {
	return fault.New(fault.NotAuthenticated, "send a live API key in the header Authorization: Bearer <key>")
}
