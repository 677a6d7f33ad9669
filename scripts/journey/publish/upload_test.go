package publish

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
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
	a := harness.Must(harness.Finalize(g, wire.NewKey(), s))(t)
	harness.WantRefused(t, a, 409, fault.UploadIncomplete)
	if a.Message() != path {
		t.Errorf("the message is %q, want the path %q", a.Message(), path)
	}
	p.WantUnchanged(t, before)
}

// TestF12T61OnlyTheSignedPutStoresBytes sends other bytes and other requests with a signature, and a body that is cut
// off. Each is refused and stores nothing. The tests of the adapter know more of them.
func TestF12T61OnlyTheSignedPutStoresBytes(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	g := p.NewAgent(t)
	file := wire.File{Path: "large.bin", Body: harness.RandomBytes(7, 1<<20)}
	s := openSession(t, g, file, wire.File{Path: "two.txt", Body: []byte("two")})
	strange := openSession(t, p.NewAgent(t), file)
	signed := s.Files[0].PutURL
	path, query, _ := strings.Cut(signed, "?")
	if !strings.HasPrefix(path, p.Origins.Upload+"/o/") {
		t.Errorf("the PUT goes to %s", path)
	}
	elsewhere := func(target string) string { to, _, _ := strings.Cut(target, "?"); return to + "?" + query }
	other := bytes.Clone(file.Body)
	other[len(other)-1] ^= 1
	for name, ask := range map[string]struct {
		method, url string
		body        []byte
		status      int
	}{
		"other bytes, same length": {"PUT", signed, other, 400},
		"longer":                   {"PUT", signed, append(other, 'x'), 403},
		"without signature":        {"PUT", path, file.Body, 403},
		"another entry":            {"PUT", elsewhere(s.Files[1].PutURL), file.Body, 403},
		"another session":          {"PUT", elsewhere(strange.Files[0].PutURL), file.Body, 403},
		"the bucket":               {"PUT", elsewhere(p.Origins.Upload + "/o/"), file.Body, 403},
		"dots":                     {"PUT", elsewhere(p.Origins.Upload + "/o/../d/x"), file.Body, 403},
		"GET":                      {"GET", signed, nil, 403},
		"DELETE":                   {"DELETE", signed, nil, 403},
		"a list":                   {"GET", p.Origins.Upload + "/o/?list-type=2&" + query, nil, 403},
		"an unsigned list":         {"GET", p.Origins.Upload + "/o/?list-type=2", nil, 403},
	} {
		a := harness.SendSigned(t, p.Anyone, ask.method, ask.url, s.Files[0].RequiredHeaders, ask.body)
		if a.Status != ask.status {
			t.Errorf("%s: %d %.200s, want %d", name, a.Status, a.Body, ask.status)
		}
	}
	cutOff(t, s.Files[0], file.Body)
	for entry := range s.Files {
		if got := storedObject(t, p, g, s.UploadSessionID, entry); got != "" {
			t.Errorf("entry %d holds %d bytes", entry, len(got))
		}
	}
	wantIncomplete(t, p, g, s.UploadSessionID, file.Path)
	if a := harness.PutAs(t, g, s.Files[0], file.Body); a.Status != http.StatusOK {
		t.Fatalf("the right bytes answer %d %.200s", a.Status, a.Body)
	}
}

// cutOff sends half of a file and hangs up.
func cutOff(t *testing.T, to contract.UploadTarget, body []byte) {
	t.Helper()
	u := harness.Must(url.Parse(to.PutURL))(t)
	conn := harness.Must(net.Dial("tcp4", net.JoinHostPort("127.0.0.1", u.Port())))(t)
	defer conn.Close()
	fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: %s\r\n", u.RequestURI(), u.Host)
	for name, value := range to.RequiredHeaders {
		fmt.Fprintf(conn, "%s: %s\r\n", name, value)
	}
	fmt.Fprintf(conn, "\r\n%s", body[:len(body)/2])
	harness.NoError(t, conn.(*net.TCPConn).CloseWrite())
	if answer, err := http.ReadResponse(bufio.NewReader(conn), nil); err == nil && answer.StatusCode < 400 {
		t.Errorf("half a file answers %d", answer.StatusCode)
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
