package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// worker publishes, revises, shares, revokes, pins, claims and deletes what is its own, and writes down what it was
// told.
type worker struct {
	name     int
	random   *rand.Rand
	http     *http.Client
	permit   func() bool // takes one of the artifacts that may be made
	anyone   *wire.Agent
	person   *person // nil: it has ephemeral workspaces
	current  *account
	accounts []*account // every one that it ever had, and every one that its person claimed
	failed   int        // steps without success
}

const (
	requestTimeout = 30 * time.Second
	maxPause       = 20 * time.Millisecond
)

// errNone says that a step had no object.
var errNone = errors.New("no object to act on")

func newHTTP() *http.Client {
	return &http.Client{
		Timeout:       requestTimeout,
		Transport:     &http.Transport{MaxIdleConnsPerHost: 8, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// work goes on until ctx ends. It expects errors, because an engine is killed and calls fail. A step that has begun is
// finished.
func (w *worker) work(ctx context.Context, api string) {
	defer w.http.CloseIdleConnections()
	for ctx.Err() == nil {
		whole := context.WithoutCancel(ctx)
		err := w.join(whole, api)
		if err == nil {
			err = w.step(whole)
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, errNone) {
			w.failed++
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(w.random.Int64N(int64(maxPause)))):
		}
	}
}

// join gives a worker a workspace that has none. Every other worker is a person who signs in.
func (w *worker) join(ctx context.Context, api string) (err error) {
	if w.current != nil {
		return nil
	}
	if w.anyone == nil {
		if w.anyone, err = wire.Discover(ctx, w.http, api); err != nil {
			w.anyone = nil
			return err
		}
	}
	if w.name%2 == 0 {
		w.current, err = w.provision(ctx)
		return err
	}
	if w.person == nil {
		// Another attempt takes another address, because this one may have got its workspace without an answer.
		email := fmt.Sprintf("drill-%d-%d@example.org", w.name, w.random.Uint32())
		p, err := signIn(ctx, w.anyone, email)
		if err != nil {
			return err
		}
		w.person = p
	}
	k, err := w.person.makeKey(ctx)
	if err == nil {
		w.current = &account{workspace: w.person.workspace, key: *k, owner: w.person}
		w.accounts = append(w.accounts, w.current)
	}
	return err
}

// provision makes an ephemeral workspace.
func (w *worker) provision(ctx context.Context) (*account, error) {
	_, p, err := w.anyone.Provision(ctx)
	if err != nil {
		return nil, err
	}
	a := &account{workspace: p.WorkspaceID, claimToken: p.ClaimToken}
	a.key = key{id: p.APIKeyID, secret: p.APIKeySecret}
	a.key.made.set(nil)
	w.accounts = append(w.accounts, a)
	return a, nil
}

// step performs one action of the mix.
func (w *worker) step(ctx context.Context) error {
	switch r := w.random.IntN(40); {
	case r < 16:
		return w.publish(ctx, w.current)
	case r < 20:
		return w.onArtifact(ctx, w.revise)
	case r < 22:
		return w.onArtifact(ctx, w.draft)
	case r < 24:
		return w.onArtifact(ctx, w.remove)
	case r < 28:
		return w.onArtifact(ctx, w.share)
	case r < 30:
		return w.onArtifact(ctx, w.unshare)
	case r < 31:
		return w.onArtifact(ctx, w.hide)
	case r < 33:
		return w.onArtifact(ctx, w.pin)
	case r < 34:
		return w.changeKeys(ctx)
	case r < 36:
		return w.claim(ctx)
	}
	return w.onArtifact(ctx, w.read)
}

// onArtifact performs an action on one of the live artifacts.
func (w *worker) onArtifact(ctx context.Context, act func(context.Context, *artifact) error) error {
	live := slices.DeleteFunc(slices.Clone(w.current.artifacts), func(a *artifact) bool { return !a.usable() })
	if len(live) == 0 {
		return errNone
	}
	return act(ctx, live[w.random.IntN(len(live))])
}

// as returns a client with the key of an account.
func (w *worker) as(a *account) *wire.Agent { return with(w.anyone, a.key.secret) }

// same is a file that every publication has, so that revisions share objects.
var same = wire.File{Path: "same.bin", Body: make([]byte, 20_000)}

// files returns the files of a publication, whose text no other has.
func (w *worker) files() []wire.File {
	text := fmt.Sprintf("worker %d: %x", w.name, w.random.Uint64())
	return []wire.File{{Path: "index.txt", Body: []byte(text)}, same}
}

func (w *worker) publish(ctx context.Context, of *account) error {
	if !w.permit() {
		return errNone
	}
	return w.put(ctx, of)
}

// put publishes a new artifact in an account.
func (w *worker) put(ctx context.Context, of *account) error {
	files := w.files()
	p, err := w.as(of).PublishFiles(ctx, "drill", "", files...)
	if err != nil {
		return err
	}
	a := &artifact{id: p.ArtifactID}
	a.add(p, files)
	of.artifacts = append(of.artifacts, a)
	return nil
}

// add writes down a publication that was acknowledged just now.
func (a *artifact) add(p contract.Published, files []wire.File) {
	r := revision{content: p.RevisionContentURL, text: string(files[0].Body)}
	r.published.set(nil)
	a.revisions = append(a.revisions, r)
	if p.UnlistedURL != "" {
		a.addLink("", p.UnlistedURL)
	}
}

// addLink writes down a URL of a link. An artifact has one share link at a time, which is asked for more than once.
func (a *artifact) addLink(l id.Link, url string) {
	public, _, _ := wire.SplitLink(url)
	for _, known := range a.links {
		if known.public == public {
			known.id = cmp.Or(known.id, l)
			return
		}
	}
	made := &link{id: l, public: public, url: url}
	made.made.set(nil)
	a.links = append(a.links, made)
}

func (w *worker) revise(ctx context.Context, a *artifact) error {
	files := w.files()
	p, err := w.as(w.current).PublishFiles(ctx, "drill", a.id, files...)
	if err == nil {
		a.add(p, files)
	}
	return err
}

// draft uploads a revision and does not publish it.
func (w *worker) draft(ctx context.Context, a *artifact) error {
	files := w.files()
	r := wire.Declare("drill", files...)
	r.ArtifactID = a.id
	_, err := w.as(w.current).Draft(ctx, wire.NewKey(), r, files...)
	return err
}

// remove deletes an artifact, unless a quarter of them is deleted already, because it is the others that may be lost.
func (w *worker) remove(ctx context.Context, a *artifact) error {
	all := w.current.artifacts
	deleted := len(slices.DeleteFunc(slices.Clone(all), (*artifact).usable))
	if deleted >= (len(all)+3)/4 {
		return errNone
	}
	return w.erase(ctx, a)
}

// erase deletes an artifact.
func (w *worker) erase(ctx context.Context, a *artifact) error {
	err := ask(ctx, w.as(w.current), nil, "DELETE", "/v1/artifacts/"+string(a.id), nil)
	a.deleted.set(err)
	return err
}

// share makes a link to the artifact.
func (w *worker) share(ctx context.Context, a *artifact) error {
	var made contract.CreatedLink
	var minted contract.MintedLink
	g := w.as(w.current)
	path := "/v1/artifacts/" + string(a.id) + "/access-links"
	if err := ask(ctx, g, &made, "POST", path, contract.CreateLink{Type: "share"}); err != nil {
		return err
	}
	if err := ask(ctx, g, &minted, "POST", linkPath(made.ID, "mint"), nil); err != nil {
		return err
	}
	a.addLink(made.ID, minted.URL)
	return nil
}

func linkPath(l id.Link, verb string) string { return "/v1/access-links/" + string(l) + "/" + verb }

// unshare revokes one of the links whose id it knows.
func (w *worker) unshare(ctx context.Context, a *artifact) error {
	for _, l := range a.links {
		if l.id != "" && l.usable() {
			err := ask(ctx, w.as(w.current), nil, "POST", linkPath(l.id, "revoke"), nil)
			l.revoked.set(err)
			return err
		}
	}
	return errNone
}

// hide makes the artifact private, which ends all of its links.
func (w *worker) hide(ctx context.Context, a *artifact) error {
	path := "/v1/artifacts/" + string(a.id) + "/visibility"
	err := ask(ctx, w.as(w.current), nil, "PUT", path, contract.SetVisibility{Visibility: "private"})
	for _, l := range a.links {
		if l.usable() {
			l.revoked.set(err)
		}
	}
	return err
}

func (w *worker) read(ctx context.Context, a *artifact) error {
	_, err := w.anyone.Do(ctx, "GET", a.revisions[w.random.IntN(len(a.revisions))].content, nil)
	return err
}
