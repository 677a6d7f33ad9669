package dynamo

import (
	"context"

	"vitrine/shared/entry/access"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
)

// Find implements access.Store.
func (s *Store) Find(ctx context.Context, public id.Public, w id.Workspace, wants access.Request) (access.Found, error) {
	b := batch{strong: true}
	b.want(credentialKey(public))
	b.want(workspaceKey(w))
	record := b.wantRecord(wants, string(public))
	_, badArtifact := wants.Artifact.Bits()
	_, badRevision := wants.Revision.Bits()
	if badArtifact == nil {
		b.want(artifactKey(wants.Artifact))
	}
	if badArtifact == nil && badRevision == nil {
		b.want(revisionKey(wants.Artifact, wants.Revision))
	}
	if wants.Session.Valid() {
		b.want(sessionKey(wants.Session))
		b.want(entriesKey(wants.Session))
	}
	f, err := s.read(ctx, b)
	if err != nil {
		return access.Found{}, err
	}
	out := access.Found{
		Key: readKey(f.at(credentialKey(public)), public), Workspace: readWorkspace(f.at(workspaceKey(w)), w), Record: readRecord(f.hot(record)),
	}
	out.Artifact = readArtifact(f.at(artifactKey(wants.Artifact)), wants.Artifact)
	out.Revision = readRevision(f.at(revisionKey(wants.Artifact, wants.Revision)), wants.Artifact, wants.Revision)
	out.Session, out.Entries, err = readSession(f.at(sessionKey(wants.Session)), f.at(entriesKey(wants.Session)), wants.Session)
	return out, err
}

// wantRecord asks for what an actor's command did before, if the request is one, and tells where it is; empty: nowhere.
func (b *batch) wantRecord(wants access.Request, actor string) (record string) {
	if wants.Operation == "" || idempotency.CheckClient(wants.Client) != nil {
		return ""
	}
	record = recordKey(wants.Command(actor))
	b.wantHot(record)
	return record
}
