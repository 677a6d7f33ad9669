package sweep

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/archive"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

// streamedBundles is a bundle whose files have random bytes of their sizes.
type streamedBundles struct {
	*fakeBundles
	bodies [][]byte

	mu      sync.Mutex
	open    int // readers of large files
	most    int // such readers at once
	longest int // bytes of a large file that were asked for at once
	opened  map[int]int
	change  func(entry, opened int, body []byte) []byte // what the object has when it is opened
}

func newStreamed(sizes ...int) (*Bundler, *streamedBundles) {
	b, f := newBundler()
	s := &streamedBundles{fakeBundles: f, opened: map[int]int{}}
	for n, size := range sizes {
		body := make([]byte, size)
		_, _ = rand.NewChaCha8([32]byte{byte(n)}).Read(body)
		s.bodies = append(s.bodies, body)
		f.files = append(f.files, tree.File{
			Path:   fmt.Sprintf("%03d", n),
			Size:   int64(size),
			SHA256: tree.DigestOf(string(body)),
			Object: tree.Object{Session: "ups", Entry: n},
		})
	}
	b.Bytes = s
	policy := b.Limits.Tiers[limits.Ephemeral]
	policy.ArtifactSize = limits.MaxBundleSize
	b.Limits.Tiers[limits.Ephemeral] = policy
	return b, s
}

// wantArchive checks that the bundle is the archive of the bodies.
func (s *streamedBundles) wantArchive(t *testing.T) {
	t.Helper()
	var want bytes.Buffer
	expect.OK(t, archive.Write(&want, s.files, "", start, func(f tree.File) (archive.Body, error) {
		return archive.Bytes(s.bodies[f.Object.Entry]), nil
	}))
	if !bytes.Equal(s.archive, want.Bytes()) || s.made.Status != artifact.BundleReady {
		t.Errorf("%d bytes, %+v, want the archive of %d bytes", len(s.archive), s.made, want.Len())
	}
}

// observed is the object of a large file while it is read.
type observed struct {
	io.Reader
	of *streamedBundles
}

func (o observed) Read(p []byte) (int, error) {
	o.of.mu.Lock()
	o.of.longest = max(o.of.longest, len(p))
	o.of.mu.Unlock()
	return o.Reader.Read(p)
}

func (o observed) Close() error {
	o.of.mu.Lock()
	defer o.of.mu.Unlock()
	o.of.open--
	return nil
}

func (s *streamedBundles) Open(
	_ context.Context, _ id.Workspace, o tree.Object, _, _ int64,
) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened[o.Entry]++
	body := s.bodies[o.Entry]
	if s.change != nil {
		body = s.change(o.Entry, s.opened[o.Entry], body)
	}
	if body == nil {
		return nil, errKilled
	}
	if len(body) <= maxAheadFile {
		return io.NopCloser(bytes.NewReader(body)), nil
	}
	s.open++
	s.most = max(s.most, s.open)
	return observed{bytes.NewReader(body), s}, nil
}

func TestLargeFilesAreStreamedOneAtATimeAndReadTwice(t *testing.T) {
	b, s := newStreamed(10, 9*limits.MiB, maxAheadFile, 0, 20*limits.MiB, maxAheadFile+1, 20)
	if _, err := b.Due(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.wantArchive(t)
	if want := "map[0:1 1:2 2:1 4:2 5:2 6:1]"; fmt.Sprint(s.opened) != want {
		t.Errorf("opened %v, want %s", s.opened, want)
	}
	if s.most != 1 || s.open != 0 || s.longest > limits.MiB {
		t.Errorf("%d large files at once, %d left open, %d bytes held of one", s.most, s.open, s.longest)
	}
}

func TestF71ALargeFileThatChangesOrBreaksIsNotStored(t *testing.T) {
	flipped := func(body []byte) []byte {
		out := bytes.Clone(body)
		out[len(out)-1] ^= 1
		return out
	}
	for name, spoil := range map[string]func(body []byte) []byte{
		"has another byte": flipped,
		"is shorter":       func(body []byte) []byte { return body[:len(body)-1] },
		"is longer":        func(body []byte) []byte { return append(bytes.Clone(body), 0) },
		"cannot be opened": func([]byte) []byte { return nil },
	} {
		for reading := 1; reading <= 2; reading++ {
			t.Run(fmt.Sprintf("%s in reading %d", name, reading), func(t *testing.T) {
				b, s := newStreamed(10, 9*limits.MiB, 10)
				s.change = func(entry, opened int, body []byte) []byte {
					if entry == 1 && opened == reading {
						return spoil(body)
					}
					return body
				}
				_, err := b.Due(t.Context())
				s.mu.Lock() // files that are read ahead may still be opened
				defer s.mu.Unlock()
				if fault.CodeOf(err) != fault.StorageUnavailable && !errors.Is(err, errKilled) ||
					s.archive != nil || s.made.Status != "" || !s.released || s.opened[1] != reading || s.open != 0 {
					t.Errorf("%v, %d bytes stored, %+v, opened %v", err, len(s.archive), s.made, s.opened)
				}
			})
		}
	}
}
