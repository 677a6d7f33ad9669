package dynamo

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/shared/artifact"
	"vitrine/shared/id"
	"vitrine/shared/sweep"
	"vitrine/shared/tree"
)

// deletionDue is the kind of the due rows of objects that nothing needs any more.
const deletionDue = "DELETE"

// DuePurges implements sweep.Purges.
func (s *Store) DuePurges(ctx context.Context, now time.Time, n int) (out []sweep.Purge, err error) {
	keys, err := s.dueKeys(ctx, purgeDue, now, n)
	for _, k := range keys {
		p := sweep.Purge{Artifact: id.Artifact(strings.TrimPrefix(k.pk, artifactKey("").pk))}
		if k.sk != metaSort {
			p.Revision = id.Revision(strings.TrimPrefix(k.sk, revisionKey("", "").sk))
		}
		out = append(out, p)
	}
	return out, err
}

// Holding implements sweep.Shelf.
func (s *Store) Holding(ctx context.Context, a id.Artifact) (h sweep.Holding, err error) {
	revisions, trees := map[id.Revision]*artifact.Revision{}, map[id.Revision]tree.Tree{}
	err = s.partition(ctx, artifactKey(a).pk, func(i item) error {
		kind, named, _ := strings.Cut(i.getStr("sk"), "#")
		r := id.Revision(named)
		switch kind {
		case metaSort:
			h.Artifact = readArtifact(i, a)
		case "R":
			revisions[r] = readRevision(i, a, r)
		case "M":
			files, err := unpackTree(i.getBin("files"))
			trees[r] = files
			return err
		}
		return nil
	})
	for r, files := range trees {
		if revision := revisions[r]; revision != nil {
			h.Contents = append(h.Contents, artifact.Contents{Revision: *revision, Tree: files})
		}
	}
	return h, err
}

// partition visits every item of a partition of table core, read strongly.
func (s *Store) partition(ctx context.Context, pk string, visit func(item) error) error {
	condition := "#pk = :pk"
	pages := dynamodb.NewQueryPaginator(s.client, &dynamodb.QueryInput{
		TableName: &s.tables.Core, KeyConditionExpression: &condition, ExpressionAttributeNames: names(condition),
		ExpressionAttributeValues: values{"pk": pk}.attributes(), ConsistentRead: aws.Bool(true),
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

// Bringer implements sweep.Shelf.
func (s *Store) Bringer(ctx context.Context, u id.Session) (id.Artifact, error) {
	i, err := s.get(ctx, s.tables.Core, sessionKey(u), true)
	return id.Artifact(i.getStr("art")), err
}

// readAtOnce is how many items one batch reads.
const readAtOnce = 100

// References implements sweep.Shelf. A reference holds as long as the files of its revision are there: they come with the
// revision and go with its purge.
func (s *Store) References(ctx context.Context, o tree.Object) (held bool, dead []id.Revision, err error) {
	var found []key
	err = s.partition(ctx, referenceKey(o, "").pk, func(i item) error {
		r := id.Revision(strings.TrimPrefix(i.getStr("sk"), referenceKey(o, "").sk))
		found = append(found, treeKey(id.Artifact(i.getStr("art")), r))
		return nil
	})
	if err != nil {
		return false, nil, err
	}
	for chunk := range slices.Chunk(found, readAtOnce) {
		b := batch{strong: true}
		for _, k := range chunk {
			b.want(k)
		}
		f, err := s.read(ctx, b)
		if err != nil {
			return false, nil, err
		}
		for _, k := range chunk {
			if f.at(k) != nil {
				held = true
			} else {
				dead = append(dead, id.Revision(strings.TrimPrefix(k.sk, treeKey("", "").sk)))
			}
		}
	}
	return held, dead, nil
}

// Condemn implements sweep.Purges.
func (s *Store) Condemn(ctx context.Context, c sweep.Condemned) error {
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.tables.Core, Item: newItem(deletionKey(c.Object)).
		str("home", string(c.Home)).bin("sha", c.Content.SHA256[:]).num("bytes", c.Content.Size).
		str("g2p", due(deletionDue, objectName(c.Object))).str("g2s", sortable(c.Due))})
	if err != nil {
		return unavailable(err)
	}
	return nil
}

// Strip implements sweep.Purges.
func (s *Store) Strip(ctx context.Context, a id.Artifact, r id.Revision) error {
	var t transaction
	t.update(s.tables.Core, revisionKey(a, r), "SET #status = :retained REMOVE #g2p, #g2s", "attribute_exists(#pk)",
		values{"retained": string(artifact.Retained)}, settled)
	t.remove(s.tables.Core, treeKey(a, r))
	return unlessSettled(s.commit(ctx, &t))
}

// Purged implements sweep.Purges.
func (s *Store) Purged(ctx context.Context, p sweep.Purge) error {
	k, condition, v := artifactKey(p.Artifact), "#status <> :live", values{"live": string(artifact.Live)}
	if p.Revision != "" {
		k, condition, v = revisionKey(p.Artifact, p.Revision), "#status = :retained", values{"retained": string(artifact.Retained)}
	}
	_, _, err := s.change(ctx, k, "REMOVE #g2p, #g2s", condition, v)
	return err
}

// DueDeletions implements sweep.Deletions.
func (s *Store) DueDeletions(ctx context.Context, now time.Time, n int) (out []sweep.Condemned, err error) {
	keys, err := s.dueKeys(ctx, deletionDue, now, n)
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	b := batch{strong: true}
	for _, k := range keys {
		b.want(k)
	}
	f, err := s.read(ctx, b)
	for _, k := range keys {
		c := readCondemned(f.at(k), readObject(strings.TrimPrefix(k.pk, deletionPrefix)))
		if c != nil && !c.Due.After(now) {
			out = append(out, *c)
		}
	}
	return out, err
}

func readCondemned(i item, o tree.Object) *sweep.Condemned {
	if i == nil || len(i.getBin("sha")) != len(tree.Digest{}) {
		return nil
	}
	return &sweep.Condemned{
		Home: id.Workspace(i.getStr("home")), Object: o, Content: tree.Content{SHA256: tree.Digest(i.getBin("sha")), Size: i.getNum("bytes")},
		Due: instant(i.getStr("g2s")),
	}
}

// Spare implements sweep.Deletions.
func (s *Store) Spare(ctx context.Context, c sweep.Condemned, until time.Time) error {
	_, _, err := s.change(ctx, deletionKey(c.Object), "SET #g2s = :until", "#g2s = :due", values{"until": sortable(until), "due": sortable(c.Due)})
	return err
}

// Acquit implements sweep.Deletions.
func (s *Store) Acquit(ctx context.Context, c sweep.Condemned) error {
	condition := "#g2s = :due"
	_, err := s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &s.tables.Core, Key: deletionKey(c.Object).attributes(), ConditionExpression: &condition, ExpressionAttributeNames: names(condition),
		ExpressionAttributeValues: values{"due": sortable(c.Due)}.attributes(),
	})
	if _, later := conditionFailed(err); later || err == nil {
		return nil
	}
	return unavailable(err)
}
