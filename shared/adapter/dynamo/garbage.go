package dynamo

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/sweep"
	"vitrine/shared/publishing/tree"
	"vitrine/shared/publishing/upload"
)

// Garbage returns what is due to be purged, and finds the references to an object.
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
			Artifact:  partitionID[id.Artifact](d.key),
			Revision:  sortID[id.Revision](d.key),
			QueueItem: d.queueItem(),
		})
	}
	return out, err
}

// Remains implements sweep.Purges. It reads the items of an artifact backwards: revisions, the artifact itself, and the
// lists of files that have items of their own, which only the page at hand keeps in memory.
func (s Garbage) Remains(
	ctx context.Context, p sweep.Purge, visit func(*artifact.Artifact, []sweep.StoredRevision) error,
) error {
	if p.Revision != "" {
		return s.remainsOf(ctx, p, visit)
	}
	var a *artifact.Artifact
	revisions, list := map[id.Revision]*artifact.Revision{}, []sweep.StoredRevision(nil)
	return s.pages(ctx, listing{prefix: key{pk: artifactKey(p.Artifact).pk}, backwards: true}, func(page []item) error {
		for _, i := range page {
			r := sortID[id.Revision](i.key())
			switch i.key() {
			case artifactKey(p.Artifact):
				a = readArtifact(i, p.Artifact)
			case revisionKey(p.Artifact, r):
				revisions[r] = readRevision(i, p.Artifact, r)
			}
			if packed := i.getBin(filesName); packed != nil && revisions[r] != nil {
				list = append(list, storedRevision(*revisions[r], packed))
			}
		}
		if a == nil {
			return nil
		}
		some := list
		list = nil
		return visit(a, some)
	})
}

// remainsOf is Remains for one revision.
func (s Garbage) remainsOf(
	ctx context.Context, p sweep.Purge, visit func(*artifact.Artifact, []sweep.StoredRevision) error,
) error {
	f, err := s.items(ctx,
		artifactKey(p.Artifact), revisionKey(p.Artifact, p.Revision), treeKey(p.Artifact, p.Revision))
	a := readArtifact(f.at(artifactKey(p.Artifact)), p.Artifact)
	if err != nil || a == nil {
		return err
	}
	var list []sweep.StoredRevision
	r := readRevision(f.at(revisionKey(p.Artifact, p.Revision)), p.Artifact, p.Revision)
	if packed := f.packedTree(p.Artifact, p.Revision); packed != nil && r != nil {
		list = append(list, storedRevision(*r, packed))
	}
	return visit(a, list)
}

func storedRevision(r artifact.Revision, packed []byte) sweep.StoredRevision {
	return sweep.StoredRevision{Revision: r, Files: func() (tree.Tree, error) { return unpackTree(packed) }}
}

// partition calls visit for every item of a partition of core, reading strongly.
func (s *db) partition(ctx context.Context, pk string, visit func(item) error) error {
	return s.below(ctx, key{pk: pk}, visit)
}

// below is partition for the items whose sort keys begin with the prefix.
func (s *db) below(ctx context.Context, prefix key, visit func(item) error) error {
	return s.each(ctx, listing{prefix: prefix}, visit)
}

// listing is a query for the items of a partition of core whose sort keys begin with that of the prefix.
type listing struct {
	prefix    key
	only      string // the projection; empty: whole items
	backwards bool
}

// each calls visit for every item that a query finds, reading strongly.
func (s *db) each(ctx context.Context, q listing, visit func(item) error) error {
	return s.pages(ctx, q, func(page []item) error {
		for _, i := range page {
			if err := visit(i); err != nil {
				return err
			}
		}
		return nil
	})
}

// pages calls visit for every page that a query finds, reading strongly. A page is read from at most 1 MB of items.
func (s *db) pages(ctx context.Context, q listing, visit func([]item) error) error {
	condition, v := "#pk = :pk", values{"pk": q.prefix.pk}
	if q.prefix.sk != "" {
		condition, v["sk"] = "#pk = :pk AND begins_with(#sk, :sk)", q.prefix.sk
	}
	in := &dynamodb.QueryInput{
		TableName:                 &s.tables.Core,
		KeyConditionExpression:    &condition,
		ProjectionExpression:      optional(q.only),
		ExpressionAttributeNames:  names(condition, q.only),
		ExpressionAttributeValues: v.attributes(),
		ConsistentRead:            aws.Bool(true),
		ScanIndexForward:          aws.Bool(!q.backwards),
	}
	return s.query(ctx, in, func(page []item) (bool, error) { return true, visit(page) })
}

// query calls visit for every page that a query finds, until it wants no more.
func (s *db) query(ctx context.Context, in *dynamodb.QueryInput, visit func([]item) (more bool, err error)) error {
	for {
		page, err := s.client.Query(ctx, in)
		if err != nil {
			return unavailable(err)
		}
		items := make([]item, len(page.Items))
		for n, i := range page.Items {
			items[n] = i
		}
		if more, err := visit(items); err != nil || !more || len(page.LastEvaluatedKey) == 0 {
			return err
		}
		in.ExclusiveStartKey = page.LastEvaluatedKey
	}
}

// Kept implements sweep.References. The item of a finalized session names its artifact and its revision.
func (s Garbage) Kept(ctx context.Context, sessions []id.Session) (map[id.Session]bool, error) {
	keys := make([]key, len(sessions))
	for n, u := range sessions {
		keys[n] = uploadKey(u)
	}
	uploads, err := s.all(ctx, keys, true)
	if err != nil {
		return nil, err
	}
	var found []upload.Session
	var wanted []key
	for k, i := range uploads {
		u := readUploadItem(i, partitionID[id.Session](k))
		found = append(found, u)
		wanted = append(wanted, artifactKey(u.Artifact), revisionKey(u.Artifact, u.Revision))
	}
	f, err := s.all(ctx, wanted, true)
	kept := make(map[id.Session]bool, len(found))
	for _, u := range found {
		a := readArtifact(f.at(artifactKey(u.Artifact)), u.Artifact)
		r := readRevision(f.at(revisionKey(u.Artifact, u.Revision)), u.Artifact, u.Revision)
		kept[u.ID] = a != nil && a.Status == artifact.Live && r != nil && r.Status != artifact.Retained
	}
	return kept, err
}

// How many references are checked at a time. For most objects that are kept, one of the first ones decides.
const (
	firstReferences = 5
	maxReferences   = 50
)

// ReferencesTo implements sweep.References. A reference holds from the commit of its revision until that is retained. No
// list of files is read, because there may be as many references as the lists have files.
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

// anyHolds reports whether any of these references holds. If none does, it returns their revisions.
func (s Garbage) anyHolds(
	ctx context.Context, references []map[string]types.AttributeValue,
) (held bool, dead []id.Revision, err error) {
	if len(references) == 0 {
		return false, nil, nil
	}
	var keys []key
	for _, i := range references {
		a, r := id.Artifact(item(i).getStr("art")), sortID[id.Revision](item(i).key())
		dead = append(dead, r)
		keys = append(keys, revisionKey(a, r))
	}
	f, err := s.all(ctx, keys, true)
	for _, i := range f {
		held = held || i.getStr("status") != string(artifact.Retained)
	}
	return held, dead, err
}

// Mark implements sweep.Purges. The objects of a session share one item, which is due as a whole.
func (s Garbage) Mark(ctx context.Context, c sweep.GarbageCandidate) error {
	set := make([]string, len(c.Objects))
	for n, f := range c.Objects {
		set[n] = garbageObject(f)
	}
	_, _, err := s.change(ctx, deletionKey(c.Session), "SET #home = :home, #g2p = :queue, #g2s = :due ADD #objs :objs",
		"", values{
			"home":  string(c.Home),
			"queue": queueOf(deletionDue, string(c.Session)),
			"due":   millisKey(c.Due),
			"objs":  set,
		})
	return err
}

// DeleteFileList implements sweep.Purges. Most revisions have the list in their own item, where one write removes it.
func (s Garbage) DeleteFileList(ctx context.Context, r artifact.Revision) error {
	k, retained := revisionKey(r.Artifact, r.ID), values{"retained": string(artifact.Retained)}
	set, remove := "SET #status = :retained", " REMOVE #lint, #g2p, #g2s"
	if r.Bundle.Status == artifact.BundlePending || r.Bundle.Status == artifact.BundleFailed {
		remove = " REMOVE #lint"
	}
	together := set + remove + ", #files"
	_, done, err := s.change(ctx, k, together, "attribute_exists(#files)", retained)
	if err != nil || done {
		return err
	}
	t := s.begin()
	t.update(k, set+remove, "attribute_exists(#pk)", retained, overtaken)
	t.remove(treeKey(r.Artifact, r.ID), "", nil, nil)
	return unlessOvertaken(s.commit(ctx, t))
}

// RemoveFeedback implements sweep.Purges.
func (s Garbage) RemoveFeedback(ctx context.Context, a id.Artifact) error {
	return s.pages(ctx, listing{prefix: key{pk: feedbackOf(a)}, only: keysOnly}, func(page []item) error {
		return s.deleteAll(ctx, keysIn(page))
	})
}

// Purged implements sweep.Purges.
func (s Garbage) Purged(ctx context.Context, p sweep.Purge) error {
	if p.Revision == "" {
		u := updateArtifact(p.Artifact)
		u.keepVersion = true
		u.unschedule()
		u.require("attribute_exists(#pk) AND #status <> :live") // it may have been removed with its workspace
		u.values["live"] = string(artifact.Live)
		return s.changeArtifact(ctx, u)
	}
	_, _, err := s.change(ctx, revisionKey(p.Artifact, p.Revision), "REMOVE #g2p, #g2s", "#status = :retained",
		values{"retained": string(artifact.Retained)})
	return err
}

// DueGarbage implements sweep.Garbage. It also reads items of older code, which marked each object with an item of its
// own.
func (s Garbage) DueGarbage(ctx context.Context, now time.Time, n int) (out []sweep.GarbageCandidate, err error) {
	found, err := s.dueItems(ctx, deletionDue, now, n)
	for _, d := range found {
		one := sweep.GarbageCandidate{Home: id.Workspace(d.getStr("home")), QueueItem: d.queueItem()}
		session, entry, alone := strings.Cut(strings.TrimPrefix(d.key.pk, deletionPrefix), "#")
		one.Session = id.Session(session)
		set := d.getSet("objs")
		if sha := d.getBin("sha"); alone && len(sha) == len(tree.Digest{}) {
			set = []string{garbageName(entry, d.getNum("bytes"), sha)}
		}
		for _, name := range set {
			if f, ok := parseGarbage(one.Session, name); ok {
				one.Objects = append(one.Objects, f)
			}
		}
		slices.SortFunc(one.Objects, func(a, b tree.File) int { return cmp.Compare(a.Object.Entry, b.Object.Entry) })
		if len(one.Objects) > 0 {
			out = append(out, one)
		}
	}
	return out, err
}

// garbageObject encodes an object for the item of its session: entry, size and digest.
func garbageObject(f tree.File) string {
	return garbageName(strconv.Itoa(f.Object.Entry), f.Size, f.SHA256[:])
}

func garbageName(entry string, size int64, sha []byte) string {
	return entry + "#" + strconv.FormatInt(size, 10) + "#" + base64.RawStdEncoding.EncodeToString(sha)
}

// parseGarbage decodes what garbageObject encoded.
func parseGarbage(u id.Session, name string) (f tree.File, ok bool) {
	parts := strings.SplitN(name, "#", 3)
	if len(parts) != 3 {
		return f, false
	}
	entry, err1 := strconv.Atoi(parts[0])
	size, err2 := strconv.ParseInt(parts[1], 10, 64)
	sha, err3 := base64.RawStdEncoding.DecodeString(parts[2])
	if errors.Join(err1, err2, err3) != nil || len(sha) != len(f.SHA256) {
		return f, false
	}
	f.Size = size
	f.SHA256 = tree.Digest(sha)
	f.Object = tree.Object{Session: u, Entry: entry}
	return f, true
}

// Unmark implements sweep.Garbage. It also deletes the entries of the session with the objects that they declared,
// because no repetition needs them any more.
func (s Garbage) Unmark(ctx context.Context, c sweep.GarbageCandidate) error {
	if c.Key == rowKey(deletionKey(c.Session)) {
		_, _, err := s.change(ctx, uploadKey(c.Session), "REMOVE #files", "attribute_exists(#files)", nil)
		if err != nil {
			return err
		}
	}
	k := parseRowKey(c.Key)
	_, err := s.deleteIf(ctx, s.tables.Core, k, "#g2s = :due", values{"due": millisKey(c.Due)})
	return err
}
