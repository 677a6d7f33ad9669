package render_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/scripts/local/engines"
	"vitrine/scripts/testkit/browser"
	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/media"
	"vitrine/shared/platform/script"
)

// specimens returns the files of testdata/specimens, of which the screenshots are.
func specimens(t testing.TB) (files []string) {
	t.Helper()
	const dir = "testdata/specimens"
	err := filepath.WalkDir(dir, func(file string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(file)
		files = append(files, strings.TrimPrefix(filepath.ToSlash(file), dir+"/"), string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// publish serves the pages of an artifact, and its bytes beside them as the content host does, on one origin.
func publish(t testing.TB, e *env) (origin string) {
	t.Helper()
	raw := func(w http.ResponseWriter, r *http.Request) {
		f, ok := e.Files.Find(r.PathValue("path"))
		if !ok {
			http.NotFound(w, r)
			return
		}
		web.VaryByFrame(w.Header(), r)
		w.Header().Set("Content-Type", media.Of(f.Path).ContentType)
		_, _ = w.Write([]byte(e.Bodies[f.Object]))
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/v/{token}/{path...}", raw)
	mux.HandleFunc("/r/", func(w http.ResponseWriter, r *http.Request) { e.Handler.ServeHTTP(w, r) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	e.serve(server.URL, appHost(t))
	return server.URL
}

// appHost serves the programs that pages run, as the app host does, and a viewer of pages, on another site.
func appHost(t testing.TB) (origin string) {
	t.Helper()
	root, err := engines.Root()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/viewer" {
			fmt.Fprintf(w, viewer, r.URL.Query().Get("page"))
			return
		}
		folder, file, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, script.Path), "/")
		name, ok := script.Find(folder, file)
		if !ok {
			t.Errorf("a page asks the app host for %s", r.URL.Path)
		}
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Content-Type", "text/javascript")
		http.ServeFile(w, r, filepath.Join(root, name))
	}))
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
}

// drawn holds when the script of a page has drawn what it draws, or there is none.
const drawn = `!document.querySelector("main[data-program]") || "drawn" in document.querySelector("main").dataset`

func TestPagesLookAsTheyShould(t *testing.T) {
	e := newEnv(t, specimens(t)...)
	origin := publish(t, e)
	for _, f := range append([]string{"", "photos"}, pathsOf(e)...) {
		t.Run(f, func(t *testing.T) {
			p := browser.Open(t)
			for width, scheme := range map[int64]string{320: "light", 1280: "dark"} {
				p.Viewport(width, 900)
				p.Scheme(scheme)
				p.Go(origin + e.path(f))
				p.Wait(drawn)
				t.Log(p.Screenshot(strings.ReplaceAll(path.Join("page", f), "/", "-") + "-" + scheme))
				for _, v := range p.Axe() {
					t.Errorf("%s at %d: %s", scheme, width, v)
				}
				if wide := browser.Eval[int](&p.Document, "document.documentElement.scrollWidth"); wide > int(width) {
					t.Errorf("%s: the page is %d wide in a window of %d", scheme, wide, width)
				}
			}
			p.Clean()
		})
	}
}

func pathsOf(e *env) (out []string) {
	for _, f := range e.Files {
		if media.ViewOf(f.Path) != media.NoView {
			out = append(out, f.Path)
		}
	}
	return out
}
