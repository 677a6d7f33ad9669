package dynamo

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/sweep"
	"vitrine/shared/publishing/tree"
)

// Garbage returns what is to be purged, and finds the references to an object.
type Garbage struct {
	*db
	cleanup
}

var (
	_ sweep.Garbage    = Garbage{}
	_ sweep.Purges     = Garbage{}
	_ sweep.References = Garbage{}
)

// DuePurges implements sweep.Purges.
func (s Garbage) DuePurges(ctx context.Context, now time.Time, n int) (out []sweep.Purge, err error) {
	found, err := s.dueItems(ctx, purgeDue, now, n)
	for _, d := range found {
		out = append(out, sweep.Purge{
			Artifact:  named[id.Artifact](d.key),
			Revision:  within[id.Revision](d.key),
			QueueItem: d.queueItem(),
		})
	}
	return out, err
}

// ArtifactFiles implements sweep.References.
func (s Garbage) ArtifactFiles(ctx context.Context, a id.Artifact) (h sweep.ArtifactFiles, err error) {
	revisions, trees := map[id.Revision]*artifact.Revision{}, map[id.Revision]tree.Tree{}
	err = s.partition(ctx, artifactKey(a).pk, func(i item) error {
		r := within[id.Revision](i.key())
		switch i.key() {
		case artifactKey(a):
			h.Artifact = readArtifact(i, a)
			return nil
		case revisionKey(a, r):
			revisions[r] = readRevision(i, a, r)
		}
		packed := i.getBin(filesName) // of a revision, or of an item of its own
		if packed == nil {
			return nil
		}
		files, err := unpackTree(packed)
		trees[r] = files
		return err
	})
	for r, files := range trees {
		if revision := revisions[r]; revision != nil {
			h.Contents = append(h.Contents, artifact.Contents{Revision: *revision, Tree: files})
		}
	}
	return h, err
}

// partition visits every item of a partition of table core, read strongly.
func (s *db) partition(ctx context.Context, pk string, visit func(item) error) error {
	condition := "#pk = :pk"
	pages := dynamodb.NewQueryPaginator(s.client, &dynamodb.QueryInput{
		TableName:                 &s.tables.Core,
		KeyConditionExpression:    &condition,
		ExpressionAttributeNames:  names(condition),
		ExpressionAttributeValues: values{"pk": pk}.attributes(),
		ConsistentRead:            aws.Bool(true),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return unavailable(err)
		}
		for _, i := range page.Items {
			if err := visit(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// UploaderOf implements sweep.References.
func (s Garbage) UploaderOf(ctx context.Context, u id.Session) (id.Artifact, error) {
	i, err := s.get(ctx, uploadKey(u))
	return id.Artifact(i.getStr("art")), err
}

// How many references are looked at in one go: most objects that are kept are so by the first ones.
const (
	firstReferences = 5
	maxReferences   = 50
)

// ReferencesTo implements sweep.References. A reference holds while the files of its revision are there: they are
// written with the revision, in its item or beside it, and deleted by its purge.
func (s Garbage) ReferencesTo(ctx context.Context, o tree.Object) (held bool, dead []id.Revision, err error) {
	condition, first := "#pk = :pk", referenceKey(o, "")
	query := dynamodb.QueryInput{
		TableName:                 &s.tables.Core,
		KeyConditionExpression:    &condition,
		ExpressionAttributeNames:  names(condition),
		ExpressionAttributeValues: values{"pk": first.pk}.attributes(),
		ConsistentRead:            aws.Bool(true),
		Limit:                     aws.Int32(firstReferences),
	}
	for {
		page, err := s.client.Query(ctx, &query)
		if err != nil {
			return false, nil, unavailable(err)
		}
		held, gone, err := s.anyHolds(ctx, page.Items)
		if err != nil || held {
			return held, nil, err
		}
		if dead = append(dead, gone...); len(page.LastEvaluatedKey) == 0 {
			return false, dead, nil
		}
		query.ExclusiveStartKey, query.Limit = page.LastEvaluatedKey, aws.Int32(maxReferences)
	}
}

// anyHolds reports whether the revision of a reference has its files, and otherwise returns the revisions.
func (s Garbage) anyHolds(
	ctx context.Context, references []map[string]types.AttributeValue,
) (held bool, dead []id.Revision, err error) {
	if len(references) == 0 {
		return false, nil, nil
	}
	var keys []key
	for _, i := range references {
		a, r := id.Artifact(item(i).getStr("art")), within[id.Revision](item(i).key())
		dead = append(dead, r)
		keys = append(keys, revisionKey(a, r), treeKey(a, r))
	}
	f, err := s.all(ctx, keys, true)
	for _, i := range f {
		held = held || i.getBin(filesName) != nil
	}
	return held, dead, err
}

// Mark implements sweep.Purges.
func (s Garbage) Mark(ctx context.Context, c sweep.GarbageCandidate) error {
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.tables.Core, Item: newItem(deletionKey(c.Object)).
		str("home", string(c.Home)).bin("sha", c.Content.SHA256[:]).num("bytes", c.Content.Size).
		str("g2p", queueOf(deletionDue, objectName(c.Object))).str("g2s", millisKey(c.Due))})
	if err != nil {
		return unavailable(err)
	}
	return nil
}

// DeleteFileList implements sweep.Purges. Of most revisions the list is in their own item, which one write changes.
func (s Garbage) DeleteFileList(ctx context.Context, a id.Artifact, r id.Revision) error {
	_, done, err := s.change(ctx, revisionKey(a, r), "SET #status = :retained REMOVE #files, #g2p, #g2s",
		"attribute_exists(#files)", values{"retained": string(artifact.Retained)})
	if err != nil || done {
		return err
	}
	t := s.begin()
	t.update(revisionKey(a, r), "SET #status = :retained REMOVE #g2p, #g2s", "attribute_exists(#pk)",
		values{"retained": string(artifact.Retained)}, overtaken)
	t.remove(treeKey(a, r), "", nil, nil)
	return unlessOvertaken(s.commit(ctx, t))
}

// Purged implements sweep.Purges.
func (s Garbage) Purged(ctx context.Context, p sweep.Purge) error {
	if p.Revision == "" {
		u := updateArtifact(p.Artifact)
		u.keepVersion = true
		u.unschedule()
		u.require("#status <> :live")
		u.values["live"] = string(artifact.Live)
		return s.changeArtifact(ctx, u)
	}
	_, _, err := s.change(ctx, revisionKey(p.Artifact, p.Revision), "REMOVE #g2p, #g2s", "#status = :retained",
		values{"retained": string(artifact.Retained)})
	return err
}

// DueGarbage implements sweep.Garbage.
func (s Garbage) DueGarbage(ctx context.Context, now time.Time, n int) (out []sweep.GarbageCandidate, err error) {
	found, err := s.dueItems(ctx, deletionDue, now, n)
	for _, d := range found {
		if sha := d.getBin("sha"); len(sha) == len(tree.Digest{}) {
			out = append(out, sweep.GarbageCandidate{
				Home:      id.Workspace(d.getStr("home")),
				Object:    garbageObject(d.key),
				Content:   tree.Content{SHA256: tree.Digest(sha), Size: d.getNum("bytes")},
				QueueItem: d.queueItem(),
			})
		}
	}
	return out, err
}

// Unmark implements sweep.Garbage.
func (s Garbage) Unmark(ctx context.Context, c sweep.GarbageCandidate) error {
	_, err := s.deleteIf(ctx, s.tables.Core, deletionKey(c.Object), "#g2s = :due", values{"due": millisKey(c.Due)})
	return err
}
