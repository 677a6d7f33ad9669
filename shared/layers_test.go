package shared_test

import (
	"go/ast"
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

// room is a part of the tree. Its packages import the rooms before it in the list, and each other where it is open.
type room struct {
	name     string
	packages []string // a trailing slash means everything below
	open     bool     // packages of the room may import each other
	reason   string   // why the rooms after it are out of its reach
}

var rooms = []room{
	{
		name:     "platform",
		packages: []string{"shared/platform/"},
		open:     true,
		reason:   "everything speaks this vocabulary, so it knows nothing of what is said with it",
	},
	{
		name:     "identity",
		packages: []string{"shared/identity/"},
		open:     true,
		reason:   "who somebody is does not depend on what they publish",
	},
	{
		name:     "publishing",
		packages: []string{"shared/publishing/"},
		open:     true,
		reason:   "an artifact's life does not depend on how its publisher came in",
	},
	{
		name:     "entry",
		packages: []string{"shared/entry/"},
		open:     true,
		reason:   "the rules of coming in know no store and no transport",
	},
	{
		name:     "adapters",
		packages: []string{"shared/adapter/"},
		reason:   "an adapter serves the ports of the core and can be exchanged without its neighbours",
	},
	{
		name:     "shapes",
		packages: []string{"functions/wire"},
		reason:   "the shapes of the contract are made alike for every host, so they know none",
	},
	{
		name: "hosts",
		packages: []string{
			"functions/api",
			"functions/upload",
			"functions/content",
			"functions/render",
			"functions/app",
			"functions/app/pages",
			"functions/mcp",
			"functions/mcp/transport",
			"functions/jobs",
		},
		reason: "hosts are deployed apart, and are given their services",
	},
	{
		name:     "assembly",
		packages: []string{"functions/assembly", "functions/assembly/"},
		reason:   "a function links what its host needs, and nothing that runs or tests it",
	},
	{
		name: "mains",
		packages: []string{
			"cmd/",
			"scripts/",
			"functions/api/lambda",
			"functions/upload/lambda",
			"functions/content/lambda",
			"functions/render/lambda",
			"functions/app/lambda",
			"functions/mcp/lambda",
			"functions/jobs/lambda",
			"functions/bundle/lambda",
		},
		open: true,
	},
}

// coreRooms is how many of the rooms are core: free of transports and of AWS.
const coreRooms = 4

// allowed are the imports within a closed room that the architecture wants.
var allowed = []string{
	"shared/adapter/dynamo shared/adapter/meter",
	"shared/adapter/blob shared/adapter/meter",
	"shared/adapter/web shared/adapter/meter",
	"shared/adapter/lambdahttp shared/adapter/web",
	"functions/assembly/api functions/assembly/payment",
	"functions/assembly/app functions/assembly/payment",
	"functions/assembly/jobs functions/assembly/schedule",
	"functions/assembly/bundle functions/assembly/schedule",
}

// ban says what a part of the tree must not reach, through whatever chain of imports, and why.
type ban struct{ from, to, why string }

var bans = []ban{
	{"functions/api", "vitrine/shared/adapter/dynamo", "hosts know services, not stores"},
	{"functions/upload", "vitrine/shared/adapter/dynamo", "hosts know services, not stores"},
	{"functions/content", "vitrine/shared/adapter/dynamo", "hosts know services, not stores"},
	{"functions/render", "vitrine/shared/adapter/dynamo", "hosts know services, not stores"},
	{"functions/app", "vitrine/shared/adapter/dynamo", "hosts know services, not stores"},
	{"functions/mcp", "vitrine/shared/adapter/dynamo", "hosts know services, not stores"},
	{"functions/wire", "vitrine/shared/adapter", "shapes are made of what the core answers, for any transport"},
	{"functions/mcp/transport", "github.com/modelcontextprotocol/", "the transport stands before any handler of the protocol"},
	{"functions/jobs", "vitrine/shared", "assembly wires jobs; the host only runs them"},
	{"functions/app/pages", "vitrine/shared", "pages know what they show and nothing else"},
	{"shared/platform/contract", "github.com/", "the CLI takes the wire shapes without the hosts' libraries"},
	{"cmd/vitrine", "github.com/aws/", "the CLI speaks HTTP only"},
	{"cmd/vitrine", "vitrine/functions", "the CLI speaks HTTP only"},
	{"scripts/internal/local", "vitrine/scripts/testkit", "people run what scripts/dev starts; a testkit is for tests"},
	{"functions/upload/lambda", "github.com/stripe/", "api and app alone talk to Stripe"},
	{"functions/content/lambda", "github.com/stripe/", "api and app alone talk to Stripe"},
	{"functions/mcp/lambda", "github.com/stripe/", "api and app alone talk to Stripe"},
	{"functions/jobs/lambda", "github.com/stripe/", "api and app alone talk to Stripe"},
	{"functions/bundle/lambda", "github.com/stripe/", "api and app alone talk to Stripe"},
	{"functions/app/lambda", "github.com/alecthomas/", "the render function alone links the libraries of pages"},
	{"functions/content/lambda", "github.com/alecthomas/", "the render function alone links the libraries of pages"},
	{"functions/api/lambda", "github.com/alecthomas/", "the render function alone links the libraries of pages"},
	{"shared/publishing/anchor", "github.com/alecthomas/", "what several functions link leaves colours to pages"},
	{"shared/publishing/anchor", "github.com/wyatt915/", "what several functions link leaves formulas to pages"},
	{"functions/render/lambda", "github.com/stripe/", "api and app alone talk to Stripe"},
}

func TestPackagesImportLowerRoomsOnly(t *testing.T) {
	code, _ := moduleImports(t)
	for dir, list := range code {
		from := roomOf(dir)
		if from < 0 {
			t.Errorf("%s is in no room: name it here", dir)
			continue
		}
		for _, p := range list {
			inner, ours := strings.CutPrefix(p, module)
			if !ours {
				continue
			}
			switch to := roomOf(inner); {
			case to < 0:
				t.Errorf("%s imports %s, which is in no room", dir, inner)
			case to > from:
				t.Errorf("%s (%s) imports %s (%s): %s", dir, rooms[from].name, inner, rooms[to].name, rooms[from].reason)
			case to == from && !rooms[from].open && !related(inner, dir) && !slices.Contains(allowed, dir+" "+inner):
				t.Errorf("%s imports %s of the same room: %s", dir, inner, rooms[from].reason)
			}
		}
	}
}

// TestTestsOfARoomImportLowerRoomsAndTheTestkit lets tests of the core run on real stores, but not on whole hosts.
func TestTestsOfARoomImportLowerRoomsAndTheTestkit(t *testing.T) {
	_, tests := moduleImports(t)
	for dir, list := range tests {
		from := roomOf(dir)
		if from < 0 || rooms[from].name == "assembly" || rooms[from].name == "mains" {
			continue
		}
		for _, p := range list {
			inner, ours := strings.CutPrefix(p, module)
			to := roomOf(inner)
			if !ours || to <= from || isForTests(inner) || rooms[to].name == "adapters" {
				continue
			}
			if rooms[from].name == "identity" && rooms[to].name == "entry" {
				continue // who signs in is tested with the ways in
			}
			t.Errorf("a test of %s (%s) imports %s (%s): what crosses hosts is a journey", dir, rooms[from].name, inner,
				rooms[to].name)
		}
	}
}

// TestTheTestkitKnowsNoHostAndNoAssembly lets the plain client solve proofs of work as the CLI does, by a package that
// imports nothing of ours.
func TestTheTestkitKnowsNoHostAndNoAssembly(t *testing.T) {
	code, tests := moduleImports(t)
	adapters := slices.IndexFunc(rooms, func(r room) bool { return r.name == "adapters" })
	for _, imports := range []map[string][]string{code, tests} {
		for dir, list := range imports {
			for _, p := range list {
				inner, ours := strings.CutPrefix(p, module)
				if inner == "cmd/vitrine/pow" {
					continue
				}
				if ours && isForTests(dir) && !isForTests(inner) && roomOf(inner) > adapters {
					t.Errorf("%s imports %s: every room's tests use the testkit, so it stands on adapters only", dir, inner)
				}
			}
		}
	}
}

// isForTests reports whether tests of every room may use a package: the testkit, and the parts of the local stack that
// know no host, which scripts/dev and tests start alike.
func isForTests(dir string) bool {
	return strings.HasPrefix(dir, "scripts/testkit/") || strings.HasPrefix(dir, "scripts/local/")
}

func related(inner, dir string) bool {
	return strings.HasPrefix(inner, dir+"/") || strings.HasPrefix(dir, inner+"/")
}

func TestPackagesNeverReachWhatTheyMustNotKnow(t *testing.T) {
	imports, _ := moduleImports(t)
	banned := slices.Clone(bans)
	for dir := range imports {
		if i := roomOf(dir); i >= 0 && i < coreRooms {
			banned = append(banned,
				ban{dir, "net/http", "the core does not know its transport"},
				ban{dir, "github.com/aws/", "the core does not know AWS"})
		}
	}
	for _, b := range banned {
		if imports[b.from] == nil {
			t.Errorf("%s is named here but is gone", b.from)
		}
		for _, chain := range reach(imports, b.from) {
			if strings.HasPrefix(chain[len(chain)-1]+"/", strings.TrimSuffix(b.to, "/")+"/") {
				t.Errorf("%s: %s", strings.Join(chain, " -> "), b.why)
			}
		}
	}
}

func roomOf(dir string) int {
	return slices.IndexFunc(rooms, func(r room) bool {
		return slices.ContainsFunc(r.packages, func(p string) bool {
			return p == dir || strings.HasSuffix(p, "/") && strings.HasPrefix(dir+"/", p)
		})
	})
}

// moduleImports maps each directory of the module to what its code imports and to what its tests import. It reads the
// source itself, so that the test cache sees every file that the verdict depends on.
func moduleImports(t *testing.T) (code, tests map[string][]string) {
	t.Helper()
	code, tests = map[string][]string{}, map[string][]string{}
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (slices.Contains([]string{"node_modules", "cdk.out", "s3d", "infra"}, d.Name()) ||
			strings.HasPrefix(d.Name(), ".") && len(d.Name()) > 2) {
			return filepath.SkipDir
		}
		if filepath.Ext(file) != ".go" {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		imports := code
		if strings.HasSuffix(file, "_test.go") {
			imports = tests
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
	return code, tests
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

// TestStepsBesideARequestRunInPackageAsync finds goroutines whose panic would end the process: on one machine that of
// all hosts.
func TestStepsBesideARequestRunInPackageAsync(t *testing.T) {
	recovers := []string{ // of themselves
		"shared/adapter/lambdahttp/stream.go",
		"shared/platform/async/async.go",
		"shared/publishing/render/render.go",
		"shared/publishing/upload/lint.go",
	}
	for _, root := range []string{"../functions", "."} {
		err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
			name := path.Join("shared", filepath.ToSlash(file))
			if err != nil || filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") ||
				strings.HasPrefix(name, "functions/assembly/") || slices.Contains(recovers, name) {
				return err // assembly runs before the first request
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.GoStmt:
					t.Errorf("%s starts a goroutine: use package async", name)
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok && (x.Name == "errgroup" || x.Name+n.Sel.Name == "syncWaitGroup") {
						t.Errorf("%s uses %s.%s: use package async", name, x.Name, n.Sel.Name)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
