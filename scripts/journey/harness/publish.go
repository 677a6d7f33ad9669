package harness

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"

	"vitrine/scripts/testkit/parallel"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// PutAll sends the files of a session, some at once.
func PutAll(t testing.TB, g *wire.Agent, s contract.Session, files []wire.File) {
	t.Helper()
	const senders = 8
	parallel.Do(senders, func(first int) {
		for n := first; n < len(files); n += senders {
			if a, err := g.Put(ctx, s.Files[n], files[n].Body); err != nil || a.Status != http.StatusOK {
				t.Errorf("the PUT of %s answers %d, %v", files[n].Path, a.Status, err)
			}
		}
	})
}

// Create asks for an upload session. Create, Finalize, Publish and Delete return answers of any status, and may run in
// a goroutine.
func Create(g *wire.Agent, idem string, body any) (wire.Answer, error) {
	return g.Do(ctx, "POST", g.SessionsURL(), body, "Idempotency-Key", idem)
}

// Finalize finalizes an upload session.
func Finalize(g *wire.Agent, idem string, u id.Session) (wire.Answer, error) {
	return g.Do(ctx, "POST", g.FinalizeURL(u), nil, "Idempotency-Key", idem)
}

// Publish publishes a draft.
func Publish(g *wire.Agent, idem string, a id.Artifact, r id.Revision) (wire.Answer, error) {
	return g.Do(ctx, "POST", g.PublishURL(a, r), nil, "Idempotency-Key", idem)
}

// Delete deletes an artifact.
func Delete(g *wire.Agent, a id.Artifact, headers ...string) (wire.Answer, error) {
	return g.Do(ctx, "DELETE", g.At.APIURL+"/v1/artifacts/"+string(a), nil, headers...)
}

// Upload opens a session for one file and uploads it; an empty a makes a new artifact.
func (f *FaultEnv) Upload(t testing.TB, g *wire.Agent, a id.Artifact, words string) contract.Session {
	t.Helper()
	u := Must(g.Create(ctx, wire.NewKey(), DeclareRevision(a, words)))(t)
	if put := Must(g.Put(ctx, u.Files[0], Page(words).Body))(t); put.Status != http.StatusOK {
		t.Fatalf("the PUT answers %d %.200s", put.Status, put.Body)
	}
	return u
}

// DraftBlank makes a draft of an empty file, which needs no upload; an empty a makes a new artifact.
func (f *FaultEnv) DraftBlank(t testing.TB, g *wire.Agent, a id.Artifact) contract.Finalized {
	t.Helper()
	r := wire.Declare("blank", wire.File{Path: "blank.txt"})
	r.ArtifactID = a
	return Must(g.Draft(ctx, wire.NewKey(), r, wire.File{Path: "blank.txt"}))(t)
}

// DeleteArtifact deletes an artifact.
func DeleteArtifact(t testing.TB, g *wire.Agent, a id.Artifact) {
	t.Helper()
	if answer := Must(Delete(g, a))(t); answer.Status != http.StatusOK {
		t.Errorf("deleting answers %d %s", answer.Status, answer.Body)
	}
}

// DraftPage makes a draft of one small file.
func DraftPage(t testing.TB, g *wire.Agent, words string) contract.Finalized {
	t.Helper()
	return Must(g.Draft(ctx, wire.NewKey(), wire.Declare(words, Page(words)), Page(words)))(t)
}

// PublishPage publishes one small file.
func PublishPage(t testing.TB, g *wire.Agent, words string) contract.Published {
	t.Helper()
	return Must(g.PublishFiles(ctx, words, "", Page(words)))(t)
}

// RandomBytes returns n bytes that do not compress, the same for the same seed.
func RandomBytes(seed uint64, n int) []byte {
	var key [32]byte
	key[0] = byte(seed)
	b := make([]byte, n)
	rand.NewChaCha8(key).Read(b)
	return b
}

// Page is an HTML page with a text, the entrypoint of most artifacts here.
func Page(text string) wire.File {
	return wire.File{Path: "index.html", Body: []byte("<!doctype html><title>T</title><p>" + text + "</p>")}
}

// DeclareRevision declares a revision of one small file; an empty a makes a new artifact.
func DeclareRevision(a id.Artifact, words string) contract.CreateSession {
	r := wire.Declare(words, Page(words))
	r.ArtifactID = a
	return r
}

// Revise declares a revision that inherits the files of a base revision.
func Revise(base contract.Published, title string) contract.CreateSession {
	return contract.CreateSession{
		ArtifactID:     base.ArtifactID,
		BaseRevisionID: base.RevisionID,
		Title:          title,
		Entrypoint:     "index.html",
		Files:          []contract.DeclaredFile{},
	}
}

// Patch declares a file as a diff, and returns the declaration and the diff.
func Patch(path, before, after string) (contract.DeclaredFile, wire.File) {
	diff := udiff.Unified(path, path, before, after)
	return contract.DeclaredFile{Path: path, SizeBytes: int64(len(diff)), Patch: &contract.DeclaredPatch{
		BaseSHA256: wire.Digest([]byte(before)), Format: "unified", ResultSHA256: wire.Digest([]byte(after)),
	}}, wire.File{Path: path, Body: []byte(diff)}
}

// Lines is a text of n different lines.
func Lines(n int, word string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s %d\n", word, i)
	}
	return b.String()
}

// PutAs uploads a file with the signed headers, changed by the given ones; an empty value removes a header.
func PutAs(t testing.TB, g *wire.Agent, u contract.UploadTarget, body []byte, headers ...string) wire.Answer {
	t.Helper()
	return SendSigned(t, g, "PUT", u.PutURL, u.RequiredHeaders, body, headers...)
}

// SendSigned sends a request to a signed URL, as PutAs does.
func SendSigned(
	t testing.TB, g *wire.Agent, method, target string, required map[string]string, body []byte, headers ...string,
) wire.Answer {
	t.Helper()
	r := Must(http.NewRequestWithContext(ctx, method, target, bytes.NewReader(body)))(t)
	for name, value := range required {
		r.Header.Set(name, value)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	answer := Must(g.HTTP.Do(r))(t)
	defer answer.Body.Close()
	return wire.Answer{Status: answer.StatusCode, Header: answer.Header, Body: Must(io.ReadAll(answer.Body))(t)}
}
