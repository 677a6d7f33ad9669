package reading

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/rate"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/export"
	"vitrine/shared/publishing/readaccess"
	"vitrine/shared/publishing/tree"
)

// store has the one artifact.
type store struct{ *Artifact }

func (s store) ReadState(context.Context, readaccess.Query) (readaccess.State, error) {
	return s.State, s.StoreErr
}

func (s store) Workspace(context.Context, id.Workspace) (*workspace.Workspace, error) {
	return nil, s.StoreErr
}

func (s store) Revision(context.Context, id.Artifact, id.Revision) (*artifact.Revision, error) {
	return s.Other, s.StoreErr
}

func (s store) Tree(context.Context, id.Artifact, id.Revision) (tree.Tree, error) {
	return s.Files, s.StoreErr
}

// exports has the one export, of the workspace that has the artifact.
type exports struct{ *Artifact }

func (s exports) Export(context.Context, id.Workspace) (*export.Export, error) {
	return &s.Exported, s.StoreErr
}

func (s exports) Workspace(context.Context, id.Workspace) (*workspace.Workspace, error) {
	return s.State.Workspace, s.StoreErr
}

// objects has the bytes of both.
type objects struct{ *Artifact }

func (s objects) Open(_ context.Context, _ id.Workspace, o tree.Object, offset, size int64) (io.ReadCloser, error) {
	s.Opened.Add(1)
	if s.Held != nil {
		<-s.Held
	}
	if s.OpenErr != nil {
		return nil, s.OpenErr
	}
	if s.Body != nil {
		return s.Body(size), nil
	}
	return io.NopCloser(strings.NewReader(s.Bodies[o][offset : offset+size])), nil
}

func (s objects) OpenBundle(_ context.Context, o artifact.BundleObject, offset, size int64) (io.ReadCloser, error) {
	return s.open(o, s.State.Artifact.BundleObject(s.Claims.Revision), offset, size)
}

func (s objects) OpenExport(_ context.Context, o export.Object, offset, size int64) (io.ReadCloser, error) {
	return s.open(o, s.Exported.Object(o.Volume), offset, size)
}

// open opens an archive.
func (s objects) open(asked, there any, offset, size int64) (io.ReadCloser, error) {
	s.Opened.Add(1)
	if asked != there {
		return nil, fmt.Errorf("%+v is opened, not %+v", asked, there)
	}
	return io.NopCloser(strings.NewReader(s.Archive[offset : offset+size])), s.OpenErr
}

// Counted returns how many windows count something.
func (a *Artifact) Counted() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.counts)
}

// Count implements rate.Counters.
func (a *Artifact) Count(_ context.Context, w rate.Window, add, limit int) (int, bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	window := w.Subject + w.Start.String()
	if a.counts[window] >= limit {
		return 0, false, nil
	}
	a.counts[window] += add
	return a.counts[window], true, nil
}

// OpenStreams returns how many streams are open.
func (a *Artifact) OpenStreams() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.streams)
}

// AcquireStream takes a slot of a stream.
func (a *Artifact) AcquireStream(
	_ context.Context, st rate.Stream, most int, _ time.Time,
) (free []int, ok bool, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	until := st.Until.UnixNano()
	st.Until = time.Time{}
	if a.streams[st] == 0 && !a.NoStreams {
		a.streams[st] = until
		return nil, true, a.StoreErr
	}
	for st.Slot = range most {
		if a.streams[st] == 0 && !a.NoStreams {
			free = append(free, st.Slot)
		}
	}
	return free, false, nil
}

// ReleaseStream gives it back.
func (a *Artifact) ReleaseStream(_ context.Context, st rate.Stream) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	until := st.Until.UnixNano()
	if st.Until = (time.Time{}); a.streams[st] == until {
		delete(a.streams, st)
	}
	return nil
}
