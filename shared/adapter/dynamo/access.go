package dynamo

import (
	"context"
	"time"

	"vitrine/shared/entry/access"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
)

// Access reads what authentication needs to know of credentials, members and records of commands.
type Access struct {
	*db
	metadata
}

var (
	_ access.Store       = Access{}
	_ access.MemberStore = Access{}
)

// Find implements access.Store.
func (s Access) Find(
	ctx context.Context, public id.Public, w id.Workspace, wants access.Request,
) (access.Found, error) {
	b := batch{strong: true}
	b.want(apiKeyKey(public))
	b.want(s.judged(w)...)
	record := b.wantRecord(wants, string(public))
	b.wantNamed(wants)
	f, err := s.read(ctx, b)
	if err != nil {
		return access.Found{}, err
	}
	out, err := readNamed(f, wants)
	out.Key = readAPIKey(f.at(apiKeyKey(public)), public)
	out.Workspace = s.readJudged(f, w)
	out.Record = readRecord(f.hot(record))
	return out, err
}

// wantNamed asks for the items that a request names, leaving out malformed IDs.
func (b *batch) wantNamed(wants access.Request) {
	_, badArtifact := wants.Artifact.Bits()
	_, badRevision := wants.Revision.Bits()
	if badArtifact == nil {
		b.want(artifactKey(wants.Artifact))
	}
	if badArtifact == nil && wants.Feedback {
		b.want(countsKey(wants.Artifact))
	}
	if badArtifact == nil && badRevision == nil {
		b.want(revisionKey(wants.Artifact, wants.Revision))
	}
	if wants.Session.Valid() {
		b.want(uploadKey(wants.Session))
		b.want(entriesKey(wants.Session))
	}
}

// readNamed decodes what wantNamed asked for.
func readNamed(f found, wants access.Request) (out access.Found, err error) {
	out.Artifact = readArtifact(f.at(artifactKey(wants.Artifact)), wants.Artifact)
	out.Revision = readRevision(f.at(revisionKey(wants.Artifact, wants.Revision)), wants.Artifact, wants.Revision)
	if wants.Feedback {
		out.Feedback = new(readCounts(f.at(countsKey(wants.Artifact))))
	}
	session, entries := f.at(uploadKey(wants.Session)), f.at(entriesKey(wants.Session))
	out.Session, out.Entries, err = readUpload(session, entries, wants.Session)
	return out, err
}

// wantRecord asks for the record of an actor's command, if the request is one. It returns the key of that record;
// empty: there is none.
func (b *batch) wantRecord(wants access.Request, actor string) (record string) {
	if wants.Operation == "" || idempotency.CheckClient(wants.Client) != nil {
		return ""
	}
	record = recordKey(wants.Command(actor))
	b.wantHot(record)
	return record
}

// GrantAndWorkspace implements access.MemberStore.
func (s Access) GrantAndWorkspace(
	ctx context.Context, grant id.Public, w id.Workspace,
) (*oauth.Grant, *workspace.Workspace, error) {
	f, err := s.items(ctx, append(s.judged(w), grantKey(grant))...)
	return readGrant(f.at(grantKey(grant)), grant), s.readJudged(f, w), err
}

// FindMember implements access.MemberStore.
func (s Access) FindMember(
	ctx context.Context, w id.Workspace, m id.Member, wants access.Request,
) (*member.Member, access.Found, error) {
	b := batch{strong: true}
	b.want(memberKey(w, m))
	record := b.wantRecord(wants, string(m))
	b.wantNamed(wants)
	f, err := s.read(ctx, b)
	if err != nil {
		return nil, access.Found{}, err
	}
	out, err := readNamed(f, wants)
	out.Record = readRecord(f.hot(record))
	return readMember(f.at(memberKey(w, m)), w, m), out, err
}

// Touch implements access.Store.
func (s Access) Touch(ctx context.Context, k credential.Key, now, since time.Time) error {
	_, _, err := s.change(ctx, apiKeyKey(k.Public), "SET #used_at = :now",
		"attribute_exists(#pk) AND (attribute_not_exists(#used_at) OR #used_at < :since)", values{"now": now, "since": since})
	return err
}
