package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// publishesFiles publishes a file from a person's browser, first too early, and then again as another artifact, which
// reuses its bytes.
func (h *harness) publishesFiles(b *browser) {
	b.t.Helper()
	file := wire.File{Path: "index.html", Body: []byte("<title>From a browser</title><p>Hello</p>")}
	for _, reused := range []bool{false, true} {
		session := called[contract.Session](b, "/api/upload-sessions", wire.Declare("From a browser", file))
		finalize := "/api/upload-sessions/" + string(session.UploadSessionID) + "/finalize"
		if got := session.Files[0].Status == "reused"; got != reused {
			b.t.Errorf("the file is reused: %v", got)
		}
		if !reused {
			if status := b.call(finalize, nil, nil); status != http.StatusConflict {
				b.t.Errorf("a session without its file is finalized: %d", status)
			}
			put, err := h.anyone.Put(b.t.Context(), session.Files[0], file.Body)
			if err != nil || put.Status != http.StatusOK {
				b.t.Fatalf("%d %s %v", put.Status, put.Body, err)
			}
		}
		draft := called[contract.Finalized](b, finalize, nil)
		called[struct{}](b, "/api/artifacts/"+string(draft.ArtifactID)+"/revisions/"+string(draft.RevisionID)+"/publish", nil)
		h.clock.passed.Add(int64(limits.UploadPatience))
		if err := h.jobs.Run(b.t.Context()); err != nil {
			b.t.Fatal(err)
		}
	}
}

// called makes a call of a page's script, which has to succeed.
func called[Out any](b *browser, path string, body any) (out Out) {
	b.t.Helper()
	if status := b.call(path, body, &out); status != http.StatusOK {
		b.t.Fatalf("%s: %d %s", path, status, b.page)
	}
	return out
}

// call makes a call of a page's script and returns its status.
func (b *browser) call(path string, body, out any) int {
	b.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		b.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(b.t.Context(), "POST", b.app+path, strings.NewReader(string(text)))
	if err != nil {
		b.t.Fatal(err)
	}
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", wire.NewKey())
	status := b.answer(r).StatusCode
	if status == http.StatusOK && out != nil {
		if err := json.Unmarshal([]byte(b.page), out); err != nil {
			b.t.Fatal(err)
		}
	}
	return status
}

func TestOnlyPagesOfTheAppSendFiles(t *testing.T) {
	for stack, app := range map[string]string{
		"Plain-Data": "https://app.invalid", "Named-Data": "https://" + domainNames["app"],
	} {
		bucket := read(t, stack).of("AWS::S3::Bucket")["Objects"]
		same(t, stack, at(t, bucket.Properties, "CorsConfiguration", "CorsRules"), []any{object{
			"AllowedHeaders": []any{"if-none-match", "x-amz-checksum-sha256"},
			"AllowedMethods": []any{"PUT"},
			"AllowedOrigins": []any{app},
			"MaxAge":         float64(preflightAge),
		}})
	}
}
