package shared_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "vitrine/"

// levels are the parts of the tree from the bottom up; a package imports lower levels only, and of its own level none
// but those that the level allows.
var levels = []struct {
	name     string
	packages []string // a trailing slash means everything below
	within   bool     // packages of the level may import each other
}{
	{"leaves", []string{"shared/fault", "shared/id", "shared/contract", "shared/limits", "shared/media", "shared/setting"}, true},
	{"core", []string{
		"shared/access", "shared/account", "shared/address", "shared/artifact", "shared/content", "shared/credential", "shared/cursor",
		"shared/ephemeral", "shared/event", "shared/gate", "shared/idempotency", "shared/keyring", "shared/link", "shared/lockdown", "shared/pow", "shared/rate",
		"shared/agentauth", "shared/assertion", "shared/claim", "shared/member", "shared/oauth", "shared/patch", "shared/seal", "shared/session", "shared/sharing", "shared/signin", "shared/sweep",
		"shared/token", "shared/tree", "shared/upload", "shared/view", "shared/workspace",
	}, true},
	{"adapters", []string{"shared/blob", "shared/dynamo", "shared/meter", "shared/chaos", "shared/web", "shared/lambdahttp", "shared/oidc"}, false},
	{"hosts", []string{"functions/api", "functions/upload", "functions/content", "functions/app", "functions/app/pages", "functions/jobs"}, false},
	{"assembly", []string{"shared/boot", "shared/boot/"}, false},
	{"mains", []string{"cmd/", "scripts/", "functions/api/lambda", "functions/upload/lambda", "functions/content/lambda", "functions/app/lambda", "functions/jobs/lambda"}, true},
}

// ban says what a part of the tree must not reach, through whatever chain, and why.
type ban struct{ from, to, why string }

var never = []ban{
	{"functions/api", "vitrine/shared/dynamo", "hosts know services, not stores"},
	{"functions/upload", "vitrine/shared/dynamo", "hosts know services, not stores"},
	{"functions/content", "vitrine/shared/dynamo", "hosts know services, not stores"},
	{"functions/app", "vitrine/shared/dynamo", "hosts know services, not stores"},
	{"functions/jobs", "vitrine/shared", "jobs are wired by boot; the host only runs them"},
	{"functions/app/pages", "vitrine/shared", "pages know what they show and nothing else"},
	{"shared/boot", "vitrine/scripts", "what is deployed does not know the local stack"},
	{"shared/contract", "github.com/", "the CLI takes the wire shapes without the hosts' libraries"},
	{"cmd/vitrine", "github.com/aws/", "the CLI speaks HTTP only"},
	{"cmd/vitrine", "vitrine/shared/boot", "the CLI speaks HTTP only"},
}

func TestPackagesImportLowerLevelsOnly(t *testing.T) {
	imports := moduleImports(t)
	for dir, list := range imports {
		from := levelOf(dir)
		if from < 0 {
			t.Errorf("%s has no level: name it here", dir)
			continue
		}
		for _, p := range list {
			inner, ours := strings.CutPrefix(p, module)
			if !ours {
				continue
			}
			to := levelOf(inner)
			if to > from || (to == from && !levels[from].within && !parent(inner, dir) && !allowed(dir, inner)) {
				t.Errorf("%s (%s) imports %s (%s)", dir, levels[from].name, inner, levels[max(to, 0)].name)
			}
		}
	}
}

// allowed are the imports within a level that the architecture wants.
func allowed(from, to string) bool {
	return slices.Contains([]string{"shared/dynamo shared/meter", "shared/blob shared/meter", "shared/web shared/meter", "shared/lambdahttp shared/web"}, from+" "+to)
}

func parent(inner, dir string) bool {
	return strings.HasPrefix(inner, dir+"/") || strings.HasPrefix(dir, inner+"/")
}

func TestPackagesNeverReachWhatTheyMustNotKnow(t *testing.T) {
	imports := moduleImports(t)
	banned := slices.Clone(never)
	for _, level := range levels[:2] {
		for _, p := range level.packages {
			banned = append(banned, ban{p, "net/http", "the core does not know its transport"}, ban{p, "github.com/aws/", "the core does not know AWS"})
		}
	}
	for _, n := range banned {
		if imports[n.from] == nil {
			t.Errorf("%s is named here but is gone", n.from)
		}
		for _, chain := range reach(imports, n.from) {
			if strings.HasPrefix(chain[len(chain)-1]+"/", strings.TrimSuffix(n.to, "/")+"/") {
				t.Errorf("%s: %s", strings.Join(chain, " -> "), n.why)
			}
		}
	}
}

func levelOf(dir string) int {
	return slices.IndexFunc(levels, func(l struct {
		name     string
		packages []string
		within   bool
	}) bool {
		return slices.ContainsFunc(l.packages, func(p string) bool {
			return p == dir || strings.HasSuffix(p, "/") && strings.HasPrefix(dir+"/", p)
		})
	})
}

// moduleImports maps each directory of the module to what its code imports, tests left out. It reads the source itself,
// so that the test cache sees every file that the verdict depends on.
func moduleImports(t *testing.T) map[string][]string {
	imports := map[string][]string{}
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (slices.Contains([]string{"node_modules", "cdk.out", "s3d", "infra"}, d.Name()) || strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2) {
			return filepath.SkipDir
		}
		if filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		dir := path.Dir(strings.TrimPrefix(filepath.ToSlash(file), "../"))
		imports[dir] = append(imports[dir], "unsafe") // a package without imports is still there
		for _, s := range f.Imports {
			p, _ := strconv.Unquote(s.Path.Value)
			imports[dir] = append(imports[dir], p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return imports
}

// reach lists a shortest import chain from dir to everything it can reach.
func reach(imports map[string][]string, dir string) (chains [][]string) {
	seen := map[string]bool{}
	for queue := [][]string{{dir}}; len(queue) > 0; queue = queue[1:] {
		chain := queue[0]
		for _, p := range imports[strings.TrimPrefix(chain[len(chain)-1], module)] {
			if !seen[p] {
				seen[p] = true
				next := append(chain[:len(chain):len(chain)], p)
				chains, queue = append(chains, next), append(queue, next)
			}
		}
	}
	return chains
}
