// Package wire is a plain client of the HTTP interface, refusals included, for journeys, benchmarks
// and smoke tests.
package wire

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"vitrine/cmd/vitrine/pow"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// Agent is a client of one deployment with at most one credential.
type Agent struct {
	HTTP *http.Client
	At   contract.Discovery
	Key  string // bearer; empty: none
}

// Answer is the answer of a host, with any status.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Code is the error code of an envelope, "" if there is none.
func (a Answer) Code() fault.Code {
	var e contract.Envelope
	json.Unmarshal(a.Body, &e)
	return fault.Code(e.Error.Code)
}

// Message is the message of an envelope.
func (a Answer) Message() string {
	var e contract.Envelope
	json.Unmarshal(a.Body, &e)
	return e.Error.Message
}

// Do sends a request. body may be nil, a string or bytes as they are, or a value to be sent as JSON; headers are pairs.
func (agent *Agent) Do(ctx context.Context, method, target string, body any, headers ...string) (Answer, error) {
	var payload io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		payload = strings.NewReader(b)
	case []byte:
		payload = bytes.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			return Answer{}, err
		}
		payload = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, target, payload)
	if err != nil {
		return Answer{}, err
	}
	if agent.Key != "" && !strings.Contains(target, "X-Amz-Signature=") {
		r.Header.Set("Authorization", "Bearer "+agent.Key)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); strings.EqualFold(headers[i], "Host") {
			r.Host = headers[i+1]
		}
	}
	return agent.send(r)
}

func (agent *Agent) send(r *http.Request) (Answer, error) {
	resp, err := agent.HTTP.Do(r)
	if err != nil {
		var u *url.Error // it quotes the URL, which may be signed
		if errors.As(err, &u) {
			err = fmt.Errorf("%s %s: %w", r.Method, r.URL.Host, u.Err)
		}
		return Answer{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return Answer{resp.StatusCode, resp.Header, text}, err
}

// call sends a request and unpacks the answer; any other status than want is an error that shows
// the refusal.
func (agent *Agent) call(ctx context.Context, out any, want int, method, target string, body any, headers ...string) error {
	a, err := agent.Do(ctx, method, target, body, headers...)
	if err != nil {
		return err
	}
	if a.Status != want {
		return &Refused{Answer: a, Asked: method + " " + strings.SplitN(target, "?", 2)[0]}
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(a.Body, out)
}

// Refused is an answer with another status than the caller wanted.
type Refused struct {
	Answer
	Asked string
}

// Error shows the request and the refusal.
func (r *Refused) Error() string {
	return fmt.Sprintf("%s answers %d %s", r.Asked, r.Status, r.Body[:min(len(r.Body), 300)])
}

// Discover reads the hosts of a deployment.
func Discover(ctx context.Context, client *http.Client, base string) (*Agent, error) {
	g := &Agent{HTTP: client}
	return g, g.call(ctx, &g.At, http.StatusOK, "GET", base+"/.well-known/vitrine", nil)
}

// Provision makes an ephemeral workspace, with a proof of work if required; the returned agent
// holds its key.
func (agent *Agent) Provision(ctx context.Context) (*Agent, contract.Provisioned, error) {
	var p contract.Provisioned
	target := agent.At.APIURL + "/v1/ephemeral/provision"
	err := agent.call(ctx, &p, http.StatusCreated, "POST", target, nil)
	var refused *Refused
	if errors.As(err, &refused) && refused.Code() == fault.PowRequired {
		var proof contract.ProvisionRequest
		if proof, err = Prove(ctx, refused.Answer); err == nil {
			err = agent.call(ctx, &p, http.StatusCreated, "POST", target, proof)
		}
	}
	return &Agent{HTTP: agent.HTTP, At: agent.At, Key: p.APIKeySecret}, p, err
}

// Prove solves the challenge of a refusal.
func Prove(ctx context.Context, refusal Answer) (contract.ProvisionRequest, error) {
	var e contract.Envelope
	if err := json.Unmarshal(refusal.Body, &e); err != nil || e.Challenge == nil {
		return contract.ProvisionRequest{}, errors.New("the refusal carries no challenge")
	}
	c := e.Challenge
	s, err := pow.Solve(ctx, pow.Challenge{
		Nonce:      c.Nonce,
		Difficulty: c.Difficulty,
		ExpiresAt:  c.ExpiresAt.Time,
		Signature:  c.Signature,
	})
	return contract.ProvisionRequest{Challenge: c, Solution: &contract.Solution{Nonce: s.Nonce, Counter: s.Counter}}, err
}

// File is a file to publish.
type File struct {
	Path string
	Body []byte
}

// Declare returns the request for a session with these files; the first is the entrypoint.
func Declare(title string, files ...File) contract.CreateSession {
	r := contract.CreateSession{Title: title, Entrypoint: files[0].Path}
	for _, f := range files {
		r.Files = append(r.Files, contract.DeclaredFile{Path: f.Path, SizeBytes: int64(len(f.Body)), SHA256: Digest(f.Body)})
	}
	return r
}

// Digest returns a digest in the format of the contract.
func Digest(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

// NewKey returns a fresh Idempotency-Key.
func NewKey() string { return "journey_" + string(id.NewPublic()) }

// SessionsURL is the route of upload sessions.
func (agent *Agent) SessionsURL() string { return agent.At.UploadURL + "/v1/upload-sessions" }

// FinalizeURL is the route that ends a session.
func (agent *Agent) FinalizeURL(s id.Session) string {
	return agent.SessionsURL() + "/" + string(s) + "/finalize"
}

// PublishURL is the route that publishes a draft.
func (agent *Agent) PublishURL(a id.Artifact, r id.Revision) string {
	return agent.At.APIURL + "/v1/artifacts/" + string(a) + "/revisions/" + string(r) + "/publish"
}

// Create opens a session.
func (agent *Agent) Create(ctx context.Context, idem string, r contract.CreateSession) (s contract.Session, err error) {
	err = agent.call(ctx, &s, http.StatusOK, "POST", agent.SessionsURL(), r, "Idempotency-Key", idem)
	return s, err
}

// Put uploads one file as its target says; a reused one needs no upload.
func (agent *Agent) Put(ctx context.Context, t contract.UploadTarget, body []byte) (Answer, error) {
	if t.Status == "reused" {
		return Answer{Status: http.StatusOK}, nil
	}
	var headers []string
	for name, value := range t.RequiredHeaders {
		if name != "content-length" {
			headers = append(headers, name, value)
		}
	}
	return agent.Do(ctx, "PUT", t.PutURL, body, headers...)
}

// Finalize ends a session.
func (agent *Agent) Finalize(ctx context.Context, idem string, s id.Session) (f contract.Finalized, err error) {
	err = agent.call(ctx, &f, http.StatusOK, "POST", agent.FinalizeURL(s), nil, "Idempotency-Key", idem)
	return f, err
}

// Publish publishes a draft.
func (agent *Agent) Publish(
	ctx context.Context,
	idem string,
	a id.Artifact,
	r id.Revision,
	addresses ...contract.AddressThread,
) (p contract.Published, err error) {
	var body any
	if addresses != nil {
		body = contract.PublishRevision{Addresses: addresses}
	}
	err = agent.call(ctx, &p, http.StatusOK, "POST", agent.PublishURL(a, r), body, "Idempotency-Key", idem)
	return p, err
}

// Draft goes from a declaration to a finalized draft.
func (agent *Agent) Draft(
	ctx context.Context,
	idem string,
	r contract.CreateSession,
	files ...File,
) (contract.Finalized, error) {
	s, err := agent.Create(ctx, idem, r)
	if err != nil {
		return contract.Finalized{}, err
	}
	for i, t := range s.Files {
		a, err := agent.Put(ctx, t, files[i].Body)
		if err != nil {
			return contract.Finalized{}, err
		}
		if a.Status != http.StatusOK && a.Status != http.StatusPreconditionFailed {
			return contract.Finalized{}, &Refused{a, "PUT of " + files[i].Path}
		}
	}
	return agent.Finalize(ctx, idem, s.UploadSessionID)
}

// PublishFiles makes a new artifact, or a new revision of a, and returns what publishing answered.
func (agent *Agent) PublishFiles(
	ctx context.Context,
	title string,
	a id.Artifact,
	files ...File,
) (contract.Published, error) {
	r := Declare(title, files...)
	r.ArtifactID = a
	idem := NewKey()
	draft, err := agent.Draft(ctx, idem, r, files...)
	if err != nil {
		return contract.Published{}, err
	}
	return agent.Publish(ctx, idem, draft.ArtifactID, draft.RevisionID)
}

// AgentView reads the latest view of the caller's artifact.
func (agent *Agent) AgentView(ctx context.Context, a id.Artifact) (v contract.AgentView, err error) {
	err = agent.call(ctx, &v, http.StatusOK, "GET", agent.At.APIURL+"/v1/artifacts/"+string(a)+"/agent-view", nil)
	return v, err
}

// Resolve opens an access-link URL as the viewer page does.
func (agent *Agent) Resolve(ctx context.Context, link string) (r contract.Resolved, err error) {
	public, blob, err := SplitLink(link)
	if err != nil {
		return r, err
	}
	err = agent.call(ctx, &r, http.StatusOK, "POST", agent.At.APIURL+"/v1/access-links/resolve",
		contract.ResolveRequest{PublicID: public, Blob: blob})
	return r, err
}

// SplitLink splits an access-link URL into public id and blob.
func SplitLink(link string) (id.Public, string, error) {
	u, err := url.Parse(link)
	if err != nil || !strings.HasPrefix(u.Path, "/al/") {
		return "", "", errors.New("this is no access-link URL")
	}
	return id.Public(strings.TrimPrefix(u.Path, "/al/")), u.Fragment, nil
}
