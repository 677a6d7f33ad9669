package publish

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// roomy gives unclaimed workspaces as many files as any policy may.
func roomy(o *stack.Options) {
	harness.WithPolicy(func(p *limits.Policy) { p.FileCount = limits.FilesPerTree })(&o.Limits)
	o.Limits.Off = true
}

// randomFiles returns files of a byte each whose paths do not compress, from a number on.
func randomFiles(from, to, length int) (files []wire.File) {
	const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"
	for n := from; n < to; n++ {
		random := rand.New(rand.NewPCG(uint64(n), 1))
		var b strings.Builder
		fmt.Fprintf(&b, "%04d/", n)
		for b.Len() < length {
			b.WriteByte(letters[random.IntN(len(letters))])
		}
		files = append(files, wire.File{Path: b.String(), Body: fmt.Appendf(nil, "%d", n)})
	}
	return files
}

// publishParts publishes a session whose files are sent at once.
func publishParts(t *testing.T, g *wire.Agent, r contract.CreateSession, files []wire.File) contract.Published {
	t.Helper()
	s := harness.Must(g.Create(ctx, wire.NewKey(), r))(t)
	harness.PutAll(t, g, s, files)
	d := harness.Must(g.Finalize(ctx, wire.NewKey(), s.UploadSessionID))(t)
	return harness.Must(g.Publish(ctx, wire.NewKey(), d.ArtifactID, d.RevisionID))(t)
}

// TestTheLongestListOfFilesIsStored publishes paths and digests that do not compress in three steps, so that the files are
// of several sessions and revisions, up to what an item holds. A step more is refused before anything is sent.
func TestTheLongestListOfFilesIsStored(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, roomy)
	g := p.NewAgent(t)
	const step, length = 660, 152
	files := randomFiles(0, step, length)
	last := publishParts(t, g, wire.Declare("Long", files...), files)
	entrypoint := files[0].Path
	more := func(from, to int) (contract.CreateSession, []wire.File) {
		files := randomFiles(from, to, length)
		r := wire.Declare("Long", files...)
		r.ArtifactID, r.BaseRevisionID = last.ArtifactID, last.RevisionID
		r.BaseFiles, r.Entrypoint = from, entrypoint
		return r, files
	}
	for from := step; from < 3*step; from += step {
		r, files := more(from, from+step)
		last = publishParts(t, g, r, files)
	}
	core := p.Tables.Core
	before, longest := p.CountItems(t, core, "U#"), 0
	for _, item := range p.Scan(t, core) {
		if list, ok := item["files"].(*types.AttributeValueMemberB); ok {
			longest = max(longest, len(list.Value))
		}
	}
	t.Logf("the list of %d files takes %d bytes", 3*step, longest)
	if longest < 300_000 || longest > 300<<10 {
		t.Errorf("the longest list has %d bytes, which is not the bound", longest)
	}
	r, _ := more(3*step, limits.FilesPerTree)
	a := harness.Must(harness.Create(g, wire.NewKey(), r))(t)
	harness.WantRefused(t, a, http.StatusBadRequest, fault.FileCountCapExceeded)
	if after := p.CountItems(t, core, "U#"); after != before {
		t.Errorf("%d sessions are stored, %d before the refusal", after, before)
	}
	view := harness.Must(g.AgentView(ctx, last.ArtifactID))(t)
	if view.RevisionID != last.RevisionID {
		t.Errorf("revision %s is current, want %s", view.RevisionID, last.RevisionID)
	}
}

// TestCreateAnswersAsManyTargetsAsAFunctionCan signs 2,000 URLs with session tokens as Lambda has them, and with one as long
// as STS makes them, which makes the answer too large.
func TestCreateAnswersAsManyTargetsAsAFunctionCan(t *testing.T) {
	t.Parallel()
	for token, fits := range map[int]bool{1100: true, 4096: false} {
		p := harness.NewBackendEnv(t, roomy, func(o *stack.Options) {
			signing := *o.Engines
			raw := make([]byte, token/4*3)
			rand.NewChaCha8([32]byte{}).Read(raw)
			signing.SessionToken = base64.StdEncoding.EncodeToString(raw)
			o.Engines = &signing
		})
		g := p.NewAgent(t)
		r := wire.Declare("Many", randomFiles(0, limits.FilesPerTree, 40)...)
		a := harness.Must(harness.Create(g, wire.NewKey(), r))(t)
		t.Logf("a token of %d characters makes %d bytes", token, len(a.Body))
		if !fits {
			harness.WantRefused(t, a, http.StatusBadRequest, fault.FileCountCapExceeded)
		} else if a.Status != http.StatusOK || len(a.Body) > 5_500_000 {
			t.Errorf("a token of %d characters: %d, %d bytes", token, a.Status, len(a.Body))
		}
		if stored := p.CountItems(t, p.Tables.Core, "U#"); (stored > 0) != fits {
			t.Errorf("a token of %d characters: %d items of sessions are stored", token, stored)
		}
	}
}
