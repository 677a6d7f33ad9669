package dynamo

import (
	"context"
	"time"

	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/edit"
)

// Edits reads the revisions whose texts are edited, and what earlier attempts of an edit left.
type Edits struct {
	*db
	metadata
	files
}

var _ edit.Store = Edits{}

// Record implements edit.Store.
func (s Edits) Record(ctx context.Context, k idempotency.Key) (*idempotency.Record, error) {
	i, err := s.getIn(ctx, s.tables.Hot, key{pk: recordKey(k)}, true)
	return readRecord(i), err
}

// Target implements edit.Store.
func (s Edits) Target(
	ctx context.Context, k idempotency.Key, a id.Artifact, r id.Revision,
) (*artifact.Artifact, *artifact.Revision, *idempotency.Record, error) {
	b := batch{strong: true}
	b.want(artifactKey(a))
	b.want(revisionKey(a, r))
	record := recordKey(k)
	b.wantHot(record)
	f, err := s.read(ctx, b)
	if err != nil {
		return nil, nil, nil, err
	}
	read := readArtifact(f.at(artifactKey(a)), a)
	return read, readRevision(f.at(revisionKey(a, r)), a, r), readRecord(f.hot(record)), nil
}

// Keep implements edit.Store.
func (s Edits) Keep(
	ctx context.Context, c idempotency.Command, result []byte, w id.Workspace, now time.Time,
) error {
	t := s.begin()
	t.finish(c, result, now)
	t.checkFence(w)
	return s.commit(ctx, t)
}
