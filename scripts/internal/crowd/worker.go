package crowd

import (
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

// Worker publishes, revises, shares, revokes, pins, claims and deletes what is its own, and writes down what it was
// told.
type Worker struct {
	Current  *Account
	Accounts []*Account // every one that it ever had, and every one that its person claimed
	name     int
	random   *rand.Rand
	permit   func() bool // takes one of the artifacts that may be made
	anyone   *wire.Agent
	person   *person // nil: it has ephemeral workspaces
	failed   int     // steps without success
	losses   []error // acknowledged publications that were not there
}

const maxPause = 20 * time.Millisecond

// errNone says that a step had no object.
var errNone = errors.New("no object to act on")

// work goes on until ctx ends. It expects errors, because engines are killed and calls fail. A step that has begun is
// finished, so that its outcome is known.
func (w *Worker) work(ctx context.Context) {
	for ctx.Err() == nil {
		whole := context.WithoutCancel(ctx)
		err := w.Join(whole)
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

// Join gives a worker a workspace that has none. Every other worker is a person who signs in.
func (w *Worker) Join(ctx context.Context) (err error) {
	if w.Current != nil {
		return nil
	}
	if w.name%2 == 0 {
		w.Current, err = w.provision(ctx)
		return err
	}
	if w.person == nil {
		// Another attempt takes another address, because this one may have got its workspace without an answer.
		email := fmt.Sprintf("worker-%d-%d@example.org", w.name, w.random.Uint32())
		if w.person, err = signIn(ctx, w.anyone, email); err != nil {
			return err
		}
	}
	k, err := w.person.makeKey(ctx)
	if err == nil {
		w.Current = w.addAccount(Account{Workspace: w.person.workspace, Key: *k})
	}
	return err
}

func (w *Worker) addAccount(a Account) *Account {
	w.Accounts = append(w.Accounts, &a)
	return &a
}

// provision makes an ephemeral workspace.
func (w *Worker) provision(ctx context.Context) (*Account, error) {
	agent, p, err := w.anyone.Provision(ctx)
	if err != nil {
		return nil, err
	}
	k := Key{ID: p.APIKeyID, agent: agent, made: time.Now()}
	return w.addAccount(Account{Workspace: p.WorkspaceID, Key: k, claimToken: p.ClaimToken}), nil
}

// step performs one action of the mix.
func (w *Worker) step(ctx context.Context) error {
	switch r := w.random.IntN(40); {
	case r < 16:
		if !w.permit() {
			return errNone
		}
		return w.Publish(ctx, w.Current)
	case r < 20:
		return w.onArtifact(ctx, w.revise)
	case r < 22:
		return w.onArtifact(ctx, w.draft)
	case r < 24:
		return w.onArtifact(ctx, w.remove)
	case r < 28:
		return w.onArtifact(ctx, w.Share)
	case r < 30:
		return w.onArtifact(ctx, w.Revoke)
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
func (w *Worker) onArtifact(ctx context.Context, act func(context.Context, *Artifact) error) error {
	live := live(w.Current.Artifacts)
	if len(live) == 0 {
		return errNone
	}
	return act(ctx, live[w.random.IntN(len(live))])
}

// live returns the artifacts that were never asked to be deleted.
func live(all []*Artifact) []*Artifact {
	return slices.DeleteFunc(slices.Clone(all), func(a *Artifact) bool { return a.Deleted.tried })
}

const entrypoint = "index.txt"

// same is a file that every publication has, so that revisions share objects.
var same = wire.File{Path: "same.bin", Body: make([]byte, 20_000)}

// files returns the files of a publication, whose text no other has.
func (w *Worker) files() []wire.File {
	text := fmt.Sprintf("worker %d: %x", w.name, w.random.Uint64())
	return []wire.File{{Path: entrypoint, Body: []byte(text)}, same}
}

// Publish publishes a new artifact in an account.
func (w *Worker) Publish(ctx context.Context, in *Account) error {
	a := &Artifact{}
	err := w.publish(ctx, in, a)
	if err == nil {
		in.Artifacts = append(in.Artifacts, a)
	}
	return err
}

func (w *Worker) revise(ctx context.Context, a *Artifact) error { return w.publish(ctx, w.Current, a) }

// publish publishes a revision, of a new artifact if it has no id.
func (w *Worker) publish(ctx context.Context, in *Account, a *Artifact) error {
	files := w.files()
	p, err := in.Key.agent.PublishFiles(ctx, "crowd", a.ID, files...)
	if err != nil {
		return err
	}
	a.ID = p.ArtifactID
	a.revisions = append(a.revisions, revision{p.RevisionContentURL, string(files[0].Body), time.Now()})
	if p.UnlistedURL != "" {
		a.addLink("", p.UnlistedURL)
	}
	return nil
}

// draft uploads a revision and does not publish it.
func (w *Worker) draft(ctx context.Context, a *Artifact) error {
	files := w.files()
	r := wire.Declare("crowd", files...)
	r.ArtifactID = a.ID
	_, err := w.Current.Key.agent.Draft(ctx, wire.NewKey(), r, files...)
	return err
}

// remove deletes an artifact, unless a quarter of them is deleted already, because it is the others that may be lost.
func (w *Worker) remove(ctx context.Context, a *Artifact) error {
	all := w.Current.Artifacts
	if len(all)-len(live(all)) >= (len(all)+3)/4 {
		return errNone
	}
	return w.Delete(ctx, a)
}

// Delete deletes an artifact.
func (w *Worker) Delete(ctx context.Context, a *Artifact) error {
	err := ask(ctx, w.Current.Key.agent, nil, "DELETE", "/v1/artifacts/"+string(a.ID), nil)
	a.Deleted.set(err)
	return err
}

// Share makes a link to the artifact.
func (w *Worker) Share(ctx context.Context, a *Artifact) error {
	var made contract.CreatedLink
	var minted contract.MintedLink
	g := w.Current.Key.agent
	path := "/v1/artifacts/" + string(a.ID) + "/access-links"
	err := ask(ctx, g, &made, "POST", path, contract.CreateLink{Type: "share"})
	if err == nil {
		err = ask(ctx, g, &minted, "POST", linkPath(made.ID, "mint"), nil)
	}
	if err == nil {
		a.addLink(made.ID, minted.URL)
	}
	return err
}

func linkPath(l id.Link, verb string) string { return "/v1/access-links/" + string(l) + "/" + verb }

// Revoke revokes one of the links whose id it knows.
func (w *Worker) Revoke(ctx context.Context, a *Artifact) error {
	for _, l := range a.links {
		if l.id != "" && !l.revoked.tried {
			err := ask(ctx, w.Current.Key.agent, nil, "POST", linkPath(l.id, "revoke"), nil)
			l.revoked.set(err)
			return err
		}
	}
	return errNone
}

// hide makes the artifact private, which ends all of its links.
func (w *Worker) hide(ctx context.Context, a *Artifact) error {
	path := "/v1/artifacts/" + string(a.ID) + "/visibility"
	err := ask(ctx, w.Current.Key.agent, nil, "PUT", path, contract.SetVisibility{Visibility: "private"})
	for _, l := range a.links {
		if !l.revoked.tried {
			l.revoked.set(err)
		}
	}
	return err
}

// read opens an acknowledged publication. Even while engines are down it is there, with its bytes, or an answer says
// that an engine is unavailable.
func (w *Worker) read(ctx context.Context, a *Artifact) error {
	r := a.revisions[w.random.IntN(len(a.revisions))]
	got, err := w.anyone.Do(ctx, "GET", r.content, nil)
	if err == nil && (got.Status == http.StatusNotFound || got.Status == http.StatusOK && string(got.Body) != r.text) {
		w.losses = append(w.losses, fmt.Errorf("%s answers %d while the workers work", a.ID, got.Status))
	}
	return err
}
