package sweep

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/feedback"
)

func (f *fakeExports) AllMessages(_ context.Context, a id.Artifact) (map[id.Thread][]feedback.Message, error) {
	if len(f.order) == 0 || a != f.order[0] {
		return nil, nil
	}
	f.heard++
	for _, said := range f.said {
		said[0].ID = id.Message(fmt.Sprint("msg_", f.heard))
	}
	return f.said, nil
}

func (f *fakeExports) Waiting(context.Context, id.Artifact) ([]feedback.Held, error) { return nil, nil }

func (f *fakeExports) List(_ context.Context, q feedback.Query) (l feedback.Listing, _ error) {
	for t := range f.said {
		l.Threads = append(l.Threads, feedback.Thread{ID: t, Artifact: q.Artifact, State: feedback.Open})
	}
	return l, nil
}

// TestThreadsAreNotKeptUntilTheyAreWritten because those of an archive may be as large as its files.
func TestThreadsAreNotKeptUntilTheyAreWritten(t *testing.T) {
	x, f := newExporter(t)
	f.add("One", []string{"a"})
	f.said = map[id.Thread][]feedback.Message{"thr_1": {{Body: "A remark"}}}
	f.run(t, x)
	all, _ := f.manifests(t)
	text := entriesOf(t, f.archives[1])[all[0].Artifacts[0].Feedback]
	if !strings.Contains(text, `"id":"msg_2"`) || f.heard != 2 {
		t.Errorf("after %d readings, of which the first is for the size, it has %s", f.heard, text)
	}
}

func TestThreadsThatHaveNoRoomAreInTheNextArchive(t *testing.T) {
	x, f := newExporter(t)
	x.Limits.ExportVolume = limits.ExportVolume{Bytes: 300, Entries: 100, Artifacts: 9}
	f.add("One", []string{"a"})
	f.said = map[id.Thread][]feedback.Message{"thr_1": {{ID: "msg_1", Body: strings.Repeat("x", 300)}}}
	f.run(t, x)
	all, _ := f.manifests(t)
	if len(all) < 2 || all[0].Artifacts[0].Feedback != "" || len(all[1].Artifacts) != 1 ||
		all[1].Artifacts[0].Feedback == "" || len(all[1].Artifacts[0].Revisions) > 0 {
		t.Errorf("%+v", all)
	}
}
