package dynamo

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/sweep"
	"vitrine/shared/publishing/tree"
	"vitrine/shared/publishing/upload"
)

// Lookup implements upload.Hints.
func (s *Store) Lookup(ctx context.Context, home id.Workspace, wanted []tree.Content) (map[tree.Content]tree.Object, error) {
	b := batch{}
	for _, c := range wanted {
		b.want(hintKey(home, c))
	}
	f, err := s.read(ctx, b)
	if err != nil {
		return nil, err
	}
	out := make(map[tree.Content]tree.Object, len(f))
	for _, c := range wanted {
		if name := f.at(hintKey(home, c)).getStr("obj"); name != "" {
			out[c] = readObject(name)
		}
	}
	return out, nil
}

// RemoveIndexEntry implements upload.Hints and sweep.Finds.
func (s *Store) RemoveIndexEntry(ctx context.Context, home id.Workspace, c tree.Content, o tree.Object) (bool, error) {
	return s.deleteIf(ctx, s.tables.Core, hintKey(home, c), "#obj = :obj", values{"obj": objectName(o)})
}

// AddIndexEntries implements sweep.HintStore. A hint that is there already stays.
func (s *Store) AddIndexEntries(ctx context.Context, home id.Workspace, f tree.File) error {
	condition := "attribute_not_exists(#pk)"
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                &s.tables.Core,
		Item:                     newItem(hintKey(home, f.Content())).str("obj", objectName(f.Object)),
		ConditionExpression:      &condition,
		ExpressionAttributeNames: names(condition),
	})
	if _, there := conditionFailed(err); there || err == nil {
		return nil
	}
	return unavailable(err)
}

// DueUploads implements sweep.HintStore.
func (s *Store) DueUploads(ctx context.Context, now time.Time, n int) ([]sweep.Session, error) {
	return s.dueSessions(ctx, hintDue, now, n)
}

// NewObjects implements sweep.HintStore.
func (s *Store) NewObjects(ctx context.Context, u upload.Session) (tree.Tree, error) {
	b := batch{strong: true}
	b.want(artifactKey(u.Artifact))
	b.want(revisionKey(u.Artifact, u.Revision))
	b.want(treeKey(u.Artifact, u.Revision))
	f, err := s.read(ctx, b)
	if err != nil {
		return nil, err
	}
	a, r := readArtifact(f.at(artifactKey(u.Artifact)), u.Artifact), readRevision(f.at(revisionKey(u.Artifact, u.Revision)), u.Artifact, u.Revision)
	files := f.at(treeKey(u.Artifact, u.Revision))
	if a == nil || a.Status != artifact.Live || r == nil || r.Status == artifact.Retained || files == nil {
		return nil, nil
	}
	all, err := unpackTree(files.getBin("files"))
	return slices.DeleteFunc(all, func(f tree.File) bool { return f.Size == 0 || f.Object.Session != u.ID }), err
}

// How many writes one call takes, and how often what was left of it is tried again.
const (
	writesAtOnce = 25
	leftTries    = 8
	leftFirst    = 10 * time.Millisecond
)

// AddReference implements upload.Hints.
func (s *Store) AddReference(ctx context.Context, a id.Artifact, r id.Revision, objects []tree.Object) error {
	var writes []types.WriteRequest
	for _, o := range objects {
		writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: newItem(referenceKey(o, r)).str("art", string(a))}})
	}
	return s.writeAll(ctx, writes)
}

// RemoveReference implements sweep.Unreferring.
func (s *Store) RemoveReference(ctx context.Context, r id.Revision, objects []tree.Object) error {
	var writes []types.WriteRequest
	for _, o := range objects {
		writes = append(writes, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: referenceKey(o, r).attributes()}})
	}
	return s.writeAll(ctx, writes)
}

// writeAll makes independent writes to table core, some at a time, and fails unless all are done.
func (s *Store) writeAll(ctx context.Context, writes []types.WriteRequest) error {
	var wg sync.WaitGroup
	var failed []error
	var mu sync.Mutex
	for chunk := range slices.Chunk(writes, writesAtOnce) {
		wg.Go(func() {
			if err := s.writeBatch(ctx, chunk); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = append(failed, err)
			}
		})
	}
	wg.Wait()
	if len(failed) > 0 {
		return failed[0]
	}
	return nil
}

func (s *Store) writeBatch(ctx context.Context, chunk []types.WriteRequest) error {
	request := map[string][]types.WriteRequest{s.tables.Core: chunk}
	for try := range leftTries {
		out, err := s.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: request})
		if err != nil {
			return unavailable(err)
		}
		if request = out.UnprocessedItems; len(request) == 0 {
			return nil
		}
		if err := pause(ctx, leftFirst<<try); err != nil {
			return err
		}
	}
	return unavailable(errors.New("the tables left writes undone"))
}
