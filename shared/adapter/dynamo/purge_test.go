package dynamo

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/testkit/crash"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/sweep"
	"vitrine/shared/publishing/tree"
	"vitrine/shared/publishing/upload"
)

// lineage is an artifact that ended. Each of its revisions changes one file of the one before. All inherit a file that
// the first one borrowed from a session that is gone.
type lineage struct {
	Stores
	t         testing.TB
	faults    *chaos.Injector // of the jobs alone
	jobs      Stores
	at        time.Time
	home      id.Workspace
	artifact  id.Artifact
	revisions []artifact.Revision
	objects   int // that it uploaded or borrowed
}

func newLineage(t testing.TB, s Stores, revisions, files int) *lineage {
	t.Helper()
	l := &lineage{
		Stores:   s,
		t:        t,
		faults:   chaos.New(),
		at:       now(),
		home:     id.NewWorkspace(),
		artifact: id.NewArtifact(),
		objects:  files + revisions - 1,
	}
	l.jobs = New(newClient(t, l.faults.Add), s.tables)
	l.write(artifactItem(artifact.Artifact{
		ID:               l.artifact,
		Owner:            l.home,
		StorageWorkspace: l.home,
		Status:           artifact.Deleted,
	}).str("g1p", deletedOf(l.home)).str("g2p", queueOf(purgeDue, string(l.artifact))).str("g2s", millisKey(l.at)))
	var all tree.Tree
	for n := range revisions {
		all = l.revision(n, files, all)
	}
	return l
}

// revision stores the n-th revision of so many files, with its session and what the content index has of it.
func (l *lineage) revision(n, files int, before tree.Tree) tree.Tree {
	l.t.Helper()
	u := upload.Session{
		ID:       id.NewSession(),
		Home:     l.home,
		Artifact: l.artifact,
		Revision: id.NewRevision(),
		Status:   upload.Finalized,
	}
	r := artifact.Revision{
		ID:       u.Revision,
		Artifact: l.artifact,
		Status:   artifact.Published,
		Number:   n + 1,
		Session:  u.ID,
	}
	after := slices.Clone(before)
	items := []item{encode(uploadKey(u.ID), &u, uploadFields)}
	if n == 0 {
		after = brought(u, files-1)
		lent := tree.File{
			Path:     "lent",
			Size:     3,
			Object:   tree.Object{Session: id.NewSession()},
			Borrowed: true,
		}
		after = append(after, lent)
		noError(l.t, l.ContentIndex.AddReference(ctx, l.artifact, r.ID, []tree.Object{lent.Object}))
	} else {
		after = after.Inherited(l.revisions[n-1].ID)
		after[n%(files-1)].Object = tree.Object{Session: u.ID}
		after[n%(files-1)].SHA256 = tree.DigestOf(string(u.ID))
	}
	for _, f := range after {
		if f.Object.Session == u.ID {
			items = append(items, newItem(contentKey(l.home, f.Content())).str("obj", objectName(f.Object)))
		}
	}
	made := l.begin()
	made.createRevision(r, after)
	for _, action := range made.actions {
		items = append(items, action.Put.Item)
	}
	l.write(items...)
	l.revisions = append(l.revisions, r)
	return after
}

func (l *lineage) write(items ...item) {
	l.t.Helper()
	var writes []types.WriteRequest
	for _, i := range items {
		writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: i}})
	}
	noError(l.t, l.writeAll(ctx, writes))
}

type noBundles struct{}

func (noBundles) DeleteBundles(context.Context, []artifact.BundleObject) error { return nil }

// purge does rounds of purges until none is due, and returns the calls that they make.
func (l *lineage) purge(ctx context.Context) []chaos.Call {
	return l.faults.Record(func() { noError(l.t, l.tryPurge(ctx)) })
}

func (l *lineage) tryPurge(ctx context.Context) error {
	p := &sweep.Purger{
		References: l.jobs.Garbage,
		Store:      l.jobs.Garbage,
		Queue:      l.jobs.Garbage,
		Index:      l.jobs.ContentIndex,
		Bundles:    noBundles{},
		Now:        func() time.Time { return l.at },
		Watch:      time.Now,
	}
	for {
		if r, err := p.Due(ctx); err != nil || !r.More {
			return err
		}
	}
}

// deletions counts the objects that are deleted.
type deletions struct{ n atomic.Int64 }

func (d *deletions) DeleteAll(_ context.Context, objects map[id.Workspace][]tree.Object) error {
	for _, some := range objects {
		d.n.Add(int64(len(some)))
	}
	return nil
}

// wantPurged checks that nothing of the artifact is left but its revisions, and that all its objects are collected.
func (l *lineage) wantPurged() {
	l.t.Helper()
	left, err := l.Artifacts.Revisions(ctx, l.artifact)
	noError(l.t, err)
	if len(left) != len(l.revisions) || slices.ContainsFunc(left, func(r artifact.Revision) bool {
		return r.Status != artifact.Retained
	}) {
		l.t.Errorf("%d revisions are left, or not all are retained", len(left))
	}
	lists, err := remainsOf(l.Stores, sweep.Purge{Artifact: l.artifact})
	if err != nil || len(lists) > 0 {
		l.t.Errorf("%d lists of files are left, %v", len(lists), err)
	}
	d := new(deletions)
	c := &sweep.GarbageCollector{
		References: l.Garbage,
		Store:      l.Garbage,
		Index:      l.ContentIndex,
		Bytes:      d,
		Now:        func() time.Time { return l.at.Add(limits.CollectAfter) },
	}
	for more := true; more; {
		r, err := c.Due(ctx)
		noError(l.t, err)
		more = r.More
	}
	if int(d.n.Load()) != l.objects {
		l.t.Errorf("%d objects are collected, want %d", d.n.Load(), l.objects)
	}
}

// wantCost checks how the calls of a purge grow: two for each object, four for each revision, and some for a round and
// for each megabyte of lists.
func (l *lineage) wantCost(calls []chaos.Call) {
	l.t.Helper()
	counts := map[string]int{}
	for _, c := range calls {
		counts[c.Operation]++
	}
	l.t.Logf("%d calls, %v, for %d revisions and %d objects", len(calls), counts, len(l.revisions), l.objects)
	if most := 2*l.objects + 4*len(l.revisions) + len(l.revisions)/4 + 20; len(calls) > most {
		l.t.Errorf("%d calls, want at most %d", len(calls), most)
	}
}

func TestAPurgeCostsAsMuchAsItDeletes(t *testing.T) {
	l := newLineage(t, newStore(t), 60, 200)
	l.wantCost(l.purge(ctx))
	l.wantPurged()
}

// TestAPurgeThatDiesAtAnyCallRepeatsOneRevision dies before each call and after each write.
func TestAPurgeThatDiesAtAnyCallRepeatsOneRevision(t *testing.T) {
	s := newStore(t)
	whole := newLineage(t, s, 3, 4)
	undisturbed := whole.purge(ctx)
	whole.wantPurged()
	const round, revision = 6, 14 // calls of a round, and of the first revision
	nth := map[string]int{}
	for _, c := range undisturbed {
		nth[c.Operation]++
		for _, after := range []bool{false, true} {
			if after && !crash.IsWrite(c.Input) {
				continue
			}
			t.Run(fmt.Sprintf("%s %d, after it: %t", c.Operation, nth[c.Operation], after), func(t *testing.T) {
				l := newLineage(t, s, 3, 4)
				process := chaos.Process(ctx)
				if rule := l.faults.On(c.Operation).Nth(nth[c.Operation]); after {
					rule.After(chaos.Crash)
				} else {
					rule.Before(chaos.Crash)
				}
				made := len(l.faults.Record(func() {
					if err := l.tryPurge(process); err == nil || !chaos.Died(process) {
						t.Errorf("it lives, %v", err)
					}
				}))
				again := l.purge(ctx)
				if most := len(undisturbed) + round + revision; made+len(again) > most {
					t.Errorf("%d and %d calls, want at most %d", made, len(again), most)
				}
				l.wantPurged()
			})
		}
	}
}

// TestAPublishedRevisionEndsOnlyWithItsArtifact holds what the purge relies on: it discards a draft that was published
// meanwhile, and queues a published revision and its live artifact for purge.
func TestAPublishedRevisionEndsOnlyWithItsArtifact(t *testing.T) {
	s := newStore(t)
	k, _, f := drafted(t, s, 3)
	a, r := f.Artifact.ID, f.Revision.ID
	noError(t, s.Artifacts.Publish(ctx, publication(k, f.Revision, 1)))
	draft := sweep.Artifact{Artifact: f.Artifact, Version: 1}
	noError(t, s.Queue.Discard(ctx, draft, f.At, record(f.Artifact.Owner, f.At)))
	for of, k := range map[string]key{string(r): revisionKey(a, r), string(a): artifactKey(a)} {
		_, _, err := s.Garbage.change(ctx, k, "SET #g2p = :queue, #g2s = :now", "", values{
			"queue": queueOf(purgeDue, of), "now": millisKey(f.At),
		})
		noError(t, err)
	}
	l := &lineage{Stores: s, t: t, jobs: s, at: f.At}
	noError(t, l.tryPurge(ctx))
	c, err := s.Artifacts.Contents(ctx, a, r)
	if err != nil || c == nil || c.Revision.Status != artifact.Published || len(c.Tree) != 3 {
		t.Fatalf("%+v, %v, want it published with its files", c, err)
	}
	stored := must(s.Artifacts.Artifact(ctx, a))(t)
	noError(t, remove(s, k, *stored))
	l.at = now()
	noError(t, l.tryPurge(ctx))
	left := must(s.Artifacts.Revision(ctx, a, r))(t)
	if left.Status != artifact.Retained {
		t.Errorf("with its artifact it is %s", left.Status)
	}
}

// TestACandidateOfAFullSessionIsStored has the longest numbers and sizes.
func TestACandidateOfAFullSessionIsStored(t *testing.T) {
	s := newStore(t)
	c := sweep.GarbageCandidate{Home: id.NewWorkspace(), Session: id.NewSession()}
	c.Due = now()
	for n := range 2_000 {
		c.Objects = append(c.Objects, tree.File{
			Size:   180*limits.MiB - int64(n),
			SHA256: tree.DigestOf(fmt.Sprint(n)),
			Object: tree.Object{Session: c.Session, Entry: n},
		})
	}
	noError(t, s.Garbage.Mark(ctx, c))
	found, err := s.Garbage.DueGarbage(ctx, c.Due, 10)
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	wantSame(t, "the objects", found[0].Objects, c.Objects, nil)
	if i := must(s.get(ctx, deletionKey(c.Session)))(t); i.size() > 130_000 {
		t.Errorf("%d bytes, far above what is stored in one item of at most 400 KB", i.size())
	}
}

// TestARemovalReadsNoListsAndLosesNoSession dies after its first batch of deletions.
func TestARemovalReadsNoListsAndLosesNoSession(t *testing.T) {
	l := newLineage(t, newStore(t), 30, 40)
	all := sweep.Removal{Workspace: l.home, Homes: []id.Workspace{l.home}}
	removes := func(ctx context.Context, want sweep.Left) {
		t.Helper()
		if left, err := l.jobs.Removals.RemoveArtifacts(ctx, all); err != nil || left != want {
			t.Errorf("%v is left, %v, want %v", left, err, want)
		}
	}
	removes(ctx, sweep.Later) // for the purger
	queued := must(l.get(ctx, artifactKey(l.artifact)))(t)
	l.write(artifactItem(*readArtifact(queued, l.artifact)).str("g1p", deletedOf(l.home)))
	removes(ctx, sweep.Later) // because revisions have their files
	l.write(queued)
	l.purge(ctx)
	removes(ctx, sweep.Later) // for the collector
	l.wantPurged()
	process := chaos.Process(ctx)
	l.faults.On("BatchWriteItem").After(chaos.Crash)
	if _, err := l.jobs.Removals.RemoveArtifacts(process, all); err == nil {
		t.Error("it lives")
	}
	l.faults.Clear()
	for _, c := range l.faults.Record(func() { removes(ctx, sweep.More) }) {
		if q, ok := c.Input.(*dynamodb.QueryInput); ok && q.IndexName == nil && q.ProjectionExpression == nil {
			t.Errorf("it reads whole items of %v", q.ExpressionAttributeValues)
		}
	}
	for _, r := range l.revisions {
		f := must(l.items(ctx, uploadKey(r.Session), revisionKey(l.artifact, r.ID), artifactKey(l.artifact)))(t)
		if len(f) > 0 {
			t.Fatalf("%v are left", f)
		}
	}
}
