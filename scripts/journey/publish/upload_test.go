package publish

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// openSession opens a session for files.
func openSession(t testing.TB, g *wire.Agent, files ...wire.File) contract.Session {
	t.Helper()
	return harness.Must(g.Create(ctx, wire.NewKey(), wire.Declare("Upload", files...)))(t)
}

// storedObject returns what the bucket holds for an entry of a session; "" if it holds nothing.
func storedObject(t testing.TB, p *harness.BackendEnv, g *wire.Agent, s id.Session, entry int) string {
	t.Helper()
	key := fmt.Sprintf("o/%s/%s/%03d", harness.TokenOf(t, g).Workspace, s, entry)
	out, err := p.S3.GetObject(ctx, &s3.GetObjectInput{Bucket: &p.Options.Engines.Bucket, Key: &key})
	if err != nil {
		return ""
	}
	defer out.Body.Close()
	return string(harness.Must(io.ReadAll(out.Body))(t))
}

// wantIncomplete checks that a session lacks the file, and that nothing was stored by looking.
func wantIncomplete(t testing.TB, p *harness.BackendEnv, g *wire.Agent, s id.Session, path string) {
	t.Helper()
	before := p.Snapshot(t)
	a := harness.TryFinalize(t, g, wire.NewKey(), s)
	harness.WantRefused(t, a, 409, fault.UploadIncomplete)
	if a.Message() != path {
		t.Errorf("the message is %q, want the path %q", a.Message(), path)
	}
	p.WantUnchanged(t, before)
}

func TestF12T61OtherBytesOfALargeFileAreRefused(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	g := p.NewAgent(t)
	file := wire.File{Path: "large.bin", Body: harness.RandomBytes(7, 10<<20)}
	s := openSession(t, g, file)
	other := bytes.Clone(file.Body)
	other[len(other)-1] ^= 1
	otherDigest := sha256.Sum256(other)
	for name, tt := range map[string]struct {
		body    []byte
		headers []string
		status  int
	}{
		"other bytes, same length": {other, nil, 400},
		"other bytes, their digest": {
			other, []string{"x-amz-checksum-sha256", base64.StdEncoding.EncodeToString(otherDigest[:])}, 403,
		},
		"shorter":                    {file.Body[:len(file.Body)-1], nil, 403},
		"longer":                     {append(bytes.Clone(file.Body), 'x'), nil, 403},
		"empty":                      {nil, nil, 403},
		"without the digest":         {file.Body, []string{"x-amz-checksum-sha256", ""}, 403},
		"without if-none-match":      {file.Body, []string{"if-none-match", ""}, 403},
		"with another if-none-match": {file.Body, []string{"if-none-match", `"x"`}, 403},
	} {
		if a := harness.PutAs(t, g, s.Files[0], tt.body, tt.headers...); a.Status != tt.status {
			t.Errorf("%s: %d %.200s, want %d", name, a.Status, a.Body, tt.status)
		}
		wantIncomplete(t, p, g, s.UploadSessionID, file.Path)
	}
	if a := harness.PutAs(t, g, s.Files[0], file.Body); a.Status != http.StatusOK {
		t.Fatalf("the right bytes answer %d %.200s", a.Status, a.Body)
	}
	d := harness.Must(g.Finalize(ctx, wire.NewKey(), s.UploadSessionID))(t)
	a := harness.Must(g.Publish(ctx, wire.NewKey(), d.ArtifactID, d.RevisionID))(t)
	p.WantContent(t, a.RevisionContentURL, file.Body)
}

func TestT61APutThatIsCutOffStoresNothing(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	g := p.NewAgent(t)
	file := wire.File{Path: "cut.bin", Body: harness.RandomBytes(8, 1<<20)}
	s := openSession(t, g, file)
	u := harness.Must(url.Parse(s.Files[0].PutURL))(t)
	conn := harness.Must(net.Dial("tcp4", net.JoinHostPort("127.0.0.1", u.Port())))(t)
	fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: %s\r\n", u.RequestURI(), u.Host)
	for name, value := range s.Files[0].RequiredHeaders {
		fmt.Fprintf(conn, "%s: %s\r\n", name, value)
	}
	fmt.Fprintf(conn, "\r\n%s", file.Body[:len(file.Body)/2])
	harness.NoError(t, conn.(*net.TCPConn).CloseWrite())
	if answer, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil && answer.StatusCode < 400 {
		t.Errorf("half a file answers %d", answer.StatusCode)
	}
	conn.Close()
	wantIncomplete(t, p, g, s.UploadSessionID, file.Path)
	if a := harness.PutAs(t, g, s.Files[0], file.Body); a.Status != http.StatusOK {
		t.Errorf("the whole file answers %d %.200s", a.Status, a.Body)
	}
}

func TestF10AFileIsWrittenOnce(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	g := p.NewAgent(t)
	r := wire.Declare("Once", harness.Page("once"))
	r.Files[0].SHA256 = "" // so that other bytes of its length would do
	s := harness.Must(g.Create(ctx, wire.NewKey(), r))(t)
	bodies := [][]byte{harness.Page("once").Body, harness.Page("ecno").Body}
	statuses := make([]int, 8)
	var writers sync.WaitGroup
	for n := range statuses {
		writers.Go(func() { statuses[n] = harness.PutAs(t, g, s.Files[0], bodies[n%2]).Status })
	}
	writers.Wait()
	winner := -1
	for n, status := range statuses {
		switch {
		case status == http.StatusOK && winner >= 0:
			t.Errorf("two writes succeeded: %v", statuses)
		case status == http.StatusOK:
			winner = n
		case status != http.StatusPreconditionFailed && status != http.StatusConflict:
			t.Errorf("a second write answers %d", status)
		}
	}
	if winner < 0 {
		t.Fatalf("no write succeeded: %v", statuses)
	}
	want := string(bodies[winner%2])
	check := func(when string) {
		t.Helper()
		for _, body := range bodies {
			if a := harness.PutAs(t, g, s.Files[0], body); a.Status != http.StatusPreconditionFailed {
				t.Errorf("%s a PUT answers %d", when, a.Status)
			}
		}
		if got := storedObject(t, p, g, s.UploadSessionID, 0); got != want {
			t.Errorf("%s the object holds %q, want %q", when, got, want)
		}
	}
	check("before finalize")
	d := harness.Must(g.Finalize(ctx, wire.NewKey(), s.UploadSessionID))(t)
	check("after finalize")
	a := harness.Must(g.Publish(ctx, wire.NewKey(), d.ArtifactID, d.RevisionID))(t)
	check("after publish")
	p.WantContent(t, a.RevisionContentURL, []byte(want))
}

func TestT61ASignedURLIsGoodForItsPutOnly(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	g := p.NewAgent(t)
	one, two := wire.File{Path: "one.txt", Body: []byte("one")}, wire.File{Path: "two.txt", Body: []byte("two")}
	s := openSession(t, g, one, two)
	other := openSession(t, p.NewAgent(t), one)
	signed, headers := s.Files[0].PutURL, s.Files[0].RequiredHeaders
	path, query, _ := strings.Cut(signed, "?")
	if !strings.HasPrefix(path, p.Origins.Upload+"/o/") {
		t.Errorf("the PUT goes to %s", path)
	}
	elsewhere := func(target string) string { to, _, _ := strings.Cut(target, "?"); return to + "?" + query }
	for name, ask := range map[string]struct{ method, target string }{
		"without signature":  {"PUT", path},
		"another entry":      {"PUT", elsewhere(s.Files[1].PutURL)},
		"another session":    {"PUT", elsewhere(other.Files[0].PutURL)},
		"an extra parameter": {"PUT", signed + "&x=1"},
		"an extra ACL":       {"PUT", signed + "&acl"},
		"a longer life":      {"PUT", strings.Replace(signed, "X-Amz-Expires=", "X-Amz-Expires=9", 1)},
		"no entry":           {"PUT", elsewhere(path + "x")},
		"the bucket":         {"PUT", elsewhere(p.Origins.Upload + "/o/")},
		"GET":                {"GET", signed},
		"HEAD":               {"HEAD", signed},
		"DELETE":             {"DELETE", signed}, "a list": {"GET", p.Origins.Upload + "/o/?list-type=2&" + query},
		"an unsigned list": {"GET", p.Origins.Upload + "/o/?list-type=2"},
		"an unsigned GET":  {"GET", path},
		"dots":             {"PUT", elsewhere(p.Origins.Upload + "/o/../d/x")},
	} {
		body := one.Body
		if ask.method == "GET" || ask.method == "HEAD" || ask.method == "DELETE" {
			body = nil
		}
		if a := harness.SendSigned(t, p.Anyone, ask.method, ask.target, headers, body); a.Status != http.StatusForbidden {
			t.Errorf("%s: %d %.200s, want 403", name, a.Status, a.Body)
		}
	}
	a := harness.SendSigned(t, p.Anyone, "POST", signed, headers, one.Body)
	if a.Status != http.StatusMethodNotAllowed && a.Status != http.StatusForbidden {
		t.Errorf("POST: %d", a.Status)
	}
	for entry := range s.Files {
		if got := storedObject(t, p, g, s.UploadSessionID, entry); got != "" {
			t.Errorf("entry %d holds %q", entry, got)
		}
	}
	wantIncomplete(t, p, g, s.UploadSessionID, one.Path)
}

// TestT61ASignedURLEnds opens the session at a time whose upload URLs end within a second of ours: signatures know only
// the real time. Other bytes tell when: they are refused as wrong while the URL lives, as unsigned afterwards.
func TestT61ASignedURLEnds(t *testing.T) {
	t.Parallel()
	now := &harness.Clock{Now: time.Now()}
	p := harness.NewBackendEnv(t, now.Use)
	g := p.NewAgent(t)
	file, idem := harness.Page("late"), wire.NewKey()
	now.Advance(2*time.Second - limits.PutURLLife)
	s := harness.Must(g.Create(ctx, idem, wire.Declare("Late", file)))(t)
	if left := time.Until(s.Files[0].ExpiresAt.Time); left > 2*time.Second {
		t.Fatalf("the URL lives for %s", left)
	}
	status := 0
	for deadline := time.Now().Add(10 * time.Second); status != http.StatusForbidden && time.Now().Before(deadline); {
		status = harness.PutAs(t, g, s.Files[0], harness.Page("etal").Body).Status
	}
	if a := harness.PutAs(t, g, s.Files[0], file.Body); a.Status != http.StatusForbidden {
		t.Errorf("an ended URL answers %d %.200s", a.Status, a.Body)
	}
	wantIncomplete(t, p, g, s.UploadSessionID, file.Path)
	now.Advance(limits.PutURLLife)
	fresh := harness.Must(g.Create(ctx, idem, wire.Declare("Late", file)))(t)
	if fresh.UploadSessionID != s.UploadSessionID || fresh.Files[0].PutURL == s.Files[0].PutURL {
		t.Error("repeating the request gives no fresh URL of the same session")
	}
	if a := harness.PutAs(t, g, fresh.Files[0], file.Body); a.Status != http.StatusOK {
		t.Errorf("a fresh URL answers %d %.200s", a.Status, a.Body)
	}
	harness.Must(g.Finalize(ctx, wire.NewKey(), s.UploadSessionID))(t)
}
