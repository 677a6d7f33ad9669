package stdio

import (
	"context"
	"encoding/json"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/fault"
)

// Places are the folders from which publish_path may publish, if the client does not tell other ones.
type Places struct {
	// Work are the folders in which the client works. Those that hold more than a project do not count.
	Work []string
	// Allowed are folders that the person who set this program up has named. They always count.
	Allowed []string
	// Homes are the home folders of the person.
	Homes []string
	// Private are folders of clients and of credentials besides the hidden ones in a home.
	Private []string
}

// Folders returns the folders that count, without links: those that were allowed, and of the client's own those that
// hold no more than a project. declared replaces the working folders if it is not nil.
func (p Places) Folders(declared []string) (all []string) {
	work := p.Work
	if declared != nil {
		work = declared
	}
	for _, dir := range work {
		if real, err := filepath.EvalSymlinks(dir); err == nil && filepath.IsAbs(real) && !p.holdsMore(real) {
			all = append(all, real)
		}
	}
	for _, dir := range p.Allowed {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			all = append(all, real)
		}
	}
	return all
}

// appData are folders in a home in which programs keep their own files on macOS and Windows.
var appData = []string{"Library", "AppData"}

// holdsMore reports whether a folder holds more than a project: the root of a disk, a home or what is above one, and
// every folder in which programs keep their files, such as the hidden ones of a home.
func (p Places) holdsMore(real string) bool {
	if filepath.Dir(real) == real {
		return true
	}
	for _, home := range resolved(p.Homes) {
		rel, below := within(home, real)
		first, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
		if below && (strings.HasPrefix(first, ".") || slices.Contains(appData, first)) { // "." is the home itself
			return true
		}
		if _, above := within(real, home); above {
			return true
		}
	}
	return slices.ContainsFunc(resolved(p.Private), func(dir string) bool {
		_, inside := within(dir, real)
		_, above := within(real, dir)
		return inside || above
	})
}

// resolved returns folders without links. It leaves out those that do not exist.
func resolved(dirs []string) (all []string) {
	for _, dir := range dirs {
		if real, err := filepath.EvalSymlinks(dir); err == nil && filepath.IsAbs(real) {
			all = append(all, real)
		}
	}
	return all
}

// within returns the path of a file relative to a folder that it is in.
func within(dir, path string) (rel string, ok bool) {
	rel, err := filepath.Rel(dir, path)
	return rel, err == nil && filepath.IsLocal(rel)
}

// Locate returns a path without links, if it is in one of the folders. A relative path is one below the first of them.
// It does not tell whether anything is at a path outside.
func Locate(path string, folders []string) (string, error) {
	if len(folders) == 0 {
		return "", failure.New(failure.Invalid, failure.UnusablePath, "there is no folder that may be published from").
			Advise("Start the client in the folder of the project, or start vitrine mcp with --allow DIR.")
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(folders[0], path)
	}
	inside := func(path string) bool {
		return slices.ContainsFunc(folders, func(dir string) bool { _, ok := within(dir, path); return ok })
	}
	real, err := filepath.EvalSymlinks(path)
	switch {
	case err == nil && inside(real):
		return real, nil
	case err != nil && !strings.ContainsRune(path, 0) && inside(filepath.Clean(path)):
		return "", failure.New(failure.Invalid, failure.UnusablePath, "there is nothing to publish at %s", failure.Quoted(path)).
			Advise("Check the path; relative ones are below %s.", failure.Quoted(folders[0]))
	}
	return "", failure.New(failure.Invalid, failure.UnusablePath, "%s is outside of the folders that may be published from",
		failure.Quoted(path)).
		Advise("Publish from %s, or start vitrine mcp with --allow DIR.", strings.Join(folders, ", "))
}

// askTime is how long a client has to tell its folders.
const askTime = 10 * time.Second

// rootsID is the id of our question for the folders, which no client gives to an answer of its own.
const rootsID = `"vitrine-roots"`

// folders returns the folders that count for a call. It asks the client for its folders where it can tell them.
func (s *Server) folders(ctx context.Context) ([]string, error) {
	s.mu.Lock()
	asks := s.roots
	s.mu.Unlock()
	if !asks {
		return s.Places.Folders(nil), nil
	}
	declared, err := s.ask(ctx)
	if err != nil {
		return nil, err
	}
	return s.Places.Folders(declared), nil
}

// ask asks the client for its folders.
func (s *Server) ask(ctx context.Context) ([]string, error) {
	s.asking.Lock()
	defer s.asking.Unlock()
	asked := make(chan json.RawMessage, 1)
	s.expect(asked)
	defer s.expect(nil)
	s.write(map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(rootsID), "method": "roots/list"})
	ctx, stop := context.WithTimeout(ctx, askTime)
	defer stop()
	select {
	case answer := <-asked:
		return rootsIn(answer), nil
	case <-ctx.Done():
		return nil, failure.New(failure.Other, fault.InvalidRequest, "the client did not say which folders it works in").
			Advise("Call again; or start vitrine mcp with --allow DIR, and a client that tells no folders.")
	}
}

func (s *Server) expect(asked chan json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = asked
}

// told takes an answer of the client. Only one to our question is expected.
func (s *Server) told(m message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if string(m.id) == rootsID && s.asked != nil {
		s.asked <- m.all["result"]
		s.asked = nil
	}
}

// rootsIn returns the folders in an answer to roots/list. It is never nil, because a client that tells no folders does
// not let its working folder be used instead.
func rootsIn(answer json.RawMessage) []string {
	var list struct {
		Roots []struct {
			URI string `json:"uri"`
		} `json:"roots"`
	}
	_ = json.Unmarshal(answer, &list) // what cannot be read names no folder
	all := []string{}
	for _, r := range list.Roots {
		u, err := url.Parse(r.URI)
		if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
			continue
		}
		dir := u.Path
		if runtime.GOOS == "windows" {
			dir = strings.TrimPrefix(dir, "/") // file:///C:/Users
		}
		all = append(all, filepath.FromSlash(dir))
	}
	return all
}
