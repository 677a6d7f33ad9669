package blob_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"runtime"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/archive"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/sweep"
	"vitrine/shared/publishing/tree"
)

// dueBundle is the tables of a bundler that has one bundle to make.
type dueBundle struct {
	artifact artifact.Artifact
	revision artifact.Revision
	files    tree.Tree
	made     artifact.Bundle
}

func (d *dueBundle) DueBundles(context.Context, time.Time, int) ([]sweep.Bundle, error) {
	return []sweep.Bundle{{Revision: d.revision}}, nil
}
func (*dueBundle) Take(_ context.Context, b sweep.Bundle, _ time.Time) (sweep.Bundle, bool, error) {
	return b, true, nil
}
func (*dueBundle) Release(context.Context, sweep.Bundle) error { return nil }
func (d *dueBundle) Finish(_ context.Context, _ sweep.Bundle, made artifact.Bundle) (bool, error) {
	d.made = made
	return true, nil
}
func (d *dueBundle) GiveUp(context.Context, sweep.Bundle, id.Workspace, time.Time) error {
	d.made.Status = artifact.BundleFailed
	return nil
}
func (d *dueBundle) Artifact(context.Context, id.Artifact) (*artifact.Artifact, error) {
	return &d.artifact, nil
}
func (*dueBundle) Workspace(context.Context, id.Workspace) (*workspace.Workspace, error) {
	return &workspace.Workspace{}, nil
}
func (d *dueBundle) Tree(context.Context, id.Artifact, id.Revision) (tree.Tree, error) {
	return d.files, nil
}
func (*dueBundle) Reschedule(context.Context, sweep.QueueItem, time.Time, int) error { return nil }

// newBundler stores files of these sizes and returns a bundler that makes their archive.
func newBundler(t *testing.T, s env, sizes ...int) (*sweep.Bundler, *dueBundle, [][]byte) {
	t.Helper()
	o := s.bundle()
	d := &dueBundle{
		artifact: artifact.Artifact{ID: o.Artifact, StorageWorkspace: o.Home, Status: artifact.Live},
		revision: artifact.Revision{
			ID:          o.Revision,
			Artifact:    o.Artifact,
			Status:      artifact.Published,
			PublishedAt: time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC),
		},
	}
	bodies := make([][]byte, len(sizes))
	for n, size := range sizes {
		bodies[n] = randomBytes(size)
		s.store(t, n, bodies[n])
		d.files = append(d.files, tree.File{
			Path:   fmt.Sprint(n),
			Size:   int64(size),
			SHA256: sha256.Sum256(bodies[n]),
			Object: s.object(n),
		})
	}
	numbers := limits.Default()
	numbers.Tiers[limits.Ephemeral] = limits.Policy{ArtifactSize: limits.MaxBundleSize}
	return &sweep.Bundler{
		Store:   d,
		Sources: d,
		Queue:   d,
		Bytes:   s,
		Limits:  &numbers,
		Now:     time.Now,
	}, d, bodies
}

// TestABundleOfLargeFilesIsMadeInLittleMemory counts what is allocated in all, which is more than what is held at once.
func TestABundleOfLargeFilesIsMadeInLittleMemory(t *testing.T) {
	s := start(t)
	b, d, bodies := newBundler(t, s, 100, 9*limits.MiB, 40*limits.MiB, 100)
	var want bytes.Buffer
	expect.OK(t, archive.Write(&want, d.files, "", d.revision.PublishedAt, func(f tree.File) (archive.Body, error) {
		return archive.Bytes(bodies[f.Object.Entry]), nil
	}))
	gets := s.chaos.On("GetObject").Always()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := b.Due(t.Context()); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	allocated := after.TotalAlloc - before.TotalAlloc
	if d.made.Status != artifact.BundleReady || d.made.Size != int64(want.Len()) || gets.Fired() != 2+2*2 ||
		allocated > uint64(want.Len()) {
		t.Errorf("%+v of %d bytes, after %d reads and %d bytes of memory", d.made, want.Len(), gets.Fired(), allocated)
	}
	t.Logf("%.1f MiB allocated for an archive of %.1f", float64(allocated)/limits.MiB, float64(want.Len())/limits.MiB)
	got, err := s.readBundle(t, d.artifact.BundleObject(d.revision.ID), 0, want.Len())
	if err != nil || !bytes.Equal(got, want.Bytes()) {
		t.Errorf("other bytes: %v", err)
	}
}

func TestF71ALargeFileThatBreaksOffLeavesNoBundle(t *testing.T) {
	const size = 9 * limits.MiB
	for reading := 1; reading <= 2; reading++ {
		for _, broken := range []chaos.Action{chaos.Cut(size - 1), chaos.Break(size - 1)} {
			s := start(t)
			b, d, _ := newBundler(t, s, size)
			o := d.artifact.BundleObject(d.revision.ID)
			s.chaos.On("GetObject").Nth(reading).After(broken)
			_, err := b.Due(t.Context())
			expect.Code(t, err, fault.StorageUnavailable)
			if d.made.Status != "" || s.openUploads(t, o) != 0 {
				t.Errorf("reading %d breaks off: %+v, %d uploads open", reading, d.made, s.openUploads(t, o))
			}
			_, missing := s.readBundle(t, o, 0, 1)
			expect.Code(t, missing, fault.NotFound)
		}
	}
}
