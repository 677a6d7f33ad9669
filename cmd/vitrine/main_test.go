package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/zalando/go-keyring"

	"vitrine/cmd/vitrine/client"
	bearer "vitrine/shared/identity/credential"
	"vitrine/shared/platform/id"
)

// epoch is the time of the tested program.
var epoch = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// TestMain lets scripts run the real program as its own process, with a fixed clock and short timeouts.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"vitrine": func() {
			a := system()
			a.now = func() time.Time { return epoch }
			a.retry = client.RetryPolicy{
				MaxAttempts:  3,
				MeanWait:     time.Millisecond,
				MaxWait:      time.Minute,
				InFlight:     20 * time.Millisecond,
				ClockDivisor: clockDivisor,
			}
			a.pause = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
			a.keyring = 200 * time.Millisecond
			version = cmp.Or(os.Getenv("TEST_VERSION"), version)
			a.executable = func() (string, error) { return os.Getenv("TEST_EXECUTABLE"), nil }
			a.lookPath = func(program string) (string, error) {
				return exec.LookPath(filepath.Join(os.Getenv("TEST_PROGRAMS"), program))
			}
			if wait, err := time.ParseDuration(os.Getenv("TEST_BROWSE")); err == nil {
				a.browse = wait
			}
			if wait, err := time.ParseDuration(os.Getenv("TEST_TURN")); err == nil {
				a.turn = wait
			}
			a.terminal, a.stdinTTY = a.terminal || os.Getenv("TEST_TERMINAL") != "", a.stdinTTY || os.Getenv("TEST_TYPED") != ""
			a.stdoutTTY = a.stdoutTTY || os.Getenv("TEST_SHOWS") != ""
			if runtime.GOOS != "linux" { // elsewhere the environment cannot keep the program from the real keyring
				keyring.MockInitWithError(errors.New("not in tests"))
			}
			os.Exit(int(run(a)))
		},
		"person": fakeBrowser,
	})
}

// clockDivisor divides the times of a sign-in on another device, on both sides.
const clockDivisor = 1000

type fakeServerKey struct{}

// TestScripts runs testdata, each script against its own fake server.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			p := newFakeServer()
			env.Defer(p.close)
			env.Values[fakeServerKey{}] = p
			env.Setenv("VITRINE_URL", p.api.URL)
			env.Setenv("GORACE", "atexit_sleep_ms=0") // otherwise every process of a race-detecting binary ends a second late
			env.Setenv("UPLOAD_URL", p.upload.URL)
			env.Setenv("MEMBER_KEY", memberKey)
			env.Setenv("TRIAL_KEY", trialKey)
			env.Setenv("XDG_CONFIG_HOME", env.WorkDir+"/config")
			env.Setenv("XDG_STATE_HOME", env.WorkDir+"/state")
			env.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+env.WorkDir+"/no-bus")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":      exits,
			"json":       jsonIs,
			"make":       makeFile,
			"make-large": makeLarge,
			"outcome":    outcome,
			"peer":       tellPeer,
			"silent-bus": silentBus,
		},
	})
}

// exits CODE PROGRAM ARG... runs a program that must end with CODE. It also fails if the fake server found a fault in
// the requests.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARG...")
	}
	code := 0
	err := ts.Exec(args[1], args[2:]...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
	p := ts.Value(fakeServerKey{}).(*fakeServer)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.wrong) > 0 {
		ts.Fatalf("the peer objects:\n%s", strings.Join(p.wrong, "\n"))
	}
}

// json FILE PATH VALUE compares a member of the one JSON object in FILE, such as error.code, with a JSON value.
func jsonIs(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: json FILE PATH VALUE")
	}
	text := ts.ReadFile(args[0])
	if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
		ts.Fatalf("%s is not one line:\n%s", args[0], text)
	}
	var v any
	ts.Check(json.Unmarshal([]byte(text), &v))
	for name := range strings.SplitSeq(args[1], ".") {
		object, ok := v.(map[string]any)
		if !ok {
			ts.Fatalf("%s has no %s", text, args[1])
		}
		v = object[name]
	}
	got, err := json.Marshal(v)
	ts.Check(err)
	if (string(got) == args[2]) == neg {
		ts.Fatalf("%s is %s, compared with %s", args[1], got, args[2])
	}
}

// make NAME SIZE|link TARGET|pipe|secret creates what a txtar archive cannot contain. NAME is a Go string literal
// without its quotes.
func makeFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: make NAME SIZE, or make NAME link TARGET, or make NAME pipe|secret")
	}
	name, err := strconv.Unquote(`"` + args[0] + `"`)
	ts.Check(err)
	name = ts.MkAbs(name)
	ts.Check(os.MkdirAll(filepath.Dir(name), 0o777))
	switch args[1] {
	case "link":
		ts.Check(os.Symlink(args[2], name))
	case "secret":
		token := bearer.Mint(bearer.RefreshToken, bearer.Preview, id.NewWorkspace(), "")
		ts.Check(os.WriteFile(name, []byte("<p>"+token.Reveal()+"</p>\n"), 0o666))
	case "pipe":
		ts.Check(ts.Exec("mkfifo", name))
	default:
		size := number(ts, args[1])
		ts.Check(os.WriteFile(name, []byte(strings.Repeat("0123456789abcdef", size/16+1)[:size]), 0o666))
	}
}

// number reads an argument of a command.
func number(ts *testscript.TestScript, text string) int {
	n, err := strconv.Atoi(text)
	ts.Check(err)
	return n
}

// tellPeer makes the peer misbehave or tells what it saw:
//
//	peer fail ROUTE TIMES STATUS CODE [HEADER: VALUE]...   answer the next calls of a route with an error
//	peer body ROUTE STATUS TEXT       answer the next call with this text
//	peer refuse ROUTE TIMES STATUS ERROR [HEADER: VALUE]...   the same with an error of the authorization server
//	peer drop ROUTE TIMES             close the connection; -1: answer again
//	peer outage drop|pass             close every connection, or no longer
//	peer outage STATUS CODE [HEADER: VALUE]...   answer every call but discovery with an error, as if none came through
//	peer twist NAME                   what the browser brings back from the next sign-ins, see twists
//	peer metadata NAME VALUE          change the document of the authorization server
//	peer device NAME VALUE            change the answer that begins a sign-in on another device
//	peer pending N                    the person approves after N polls
//	peer ends TIME                    new keys end then
//	peer older N                      there are N more API keys
//	peer brings N                     the claim token is unused and brings N artifacts
//	peer left FILE                    write what logins have left at the server to FILE
//	peer host NAME URL|JSON           change the discovery document
//	peer result NAME VALUE            change a member of publish's answer
//	peer cap count|file|total|left N  change the usage policy
//	peer longest N                    artifacts of the workspace may live N days
//	peer lasts                        the artifacts do not expire
//	peer pow BITS                     ask for a proof of work
//	peer rewrite FILE TEXT            write to a file of the person while the session is opened
//	peer remove FILE                  remove it at that moment
//	peer newer ROUTE TIMES PATH TEXT  others publish PATH before the next calls of a route; % in TEXT counts
//	peer lenient                      an existing share link is returned for every requested end
//	peer draft ROUTE N                another client makes a draft before the next call of a route, and
//	                                  publishes it after N refusals because of it; 0 for never
//	peer file PATH TEXT               the newest revision has this file; both are Go literals without quotes
//	peer many N DIR                   the newest revision has N files, which DIR holds, too
//	peer lacks PATH                   this file cannot be read; "" for all can
//	peer archived FILE                FILE is the archive of the newest revision
//	peer forgets                      partial revisions of more than 100 files are refused
//	peer big PATH SIZE                the newest revision has this text of so many bytes
//	peer title TEXT                   the artifact is called so, a Go literal without quotes
//	peer others N                     there are N more artifacts
//	peer lists CURSOR                 every page names CURSOR for the next
//	peer has PATH FILE                PATH in the newest revision is what FILE holds
//	peer tree DIR                     the newest revision is what DIR holds
//	peer stale N                      the URLs of a session end before they are used, N times over
//	peer calls FILE                   write the calls so far to FILE, PUTs in order, and forget them
//	peer session FILE                 write the body of the last session that was asked for to FILE
//	peer stored DIR                   what was stored is what DIR holds
//	peer skill TEXT                   the text of the skill
//	peer bundle STATUS [N]            the state of zips; with N it is pending for so many views before
//	peer zip SIZE [SEED]              the bytes of the zip
//	peer cut BYTES...                 so many bytes of the next answers arrive, then the connection breaks;
//	                                  -1: the answer is 404
//	peer zipped FILE                  FILE is the zip
//	peer digest TEXT                  Repr-Digest is this; "" for none, right for the right one
func tellPeer(ts *testscript.TestScript, neg bool, args []string) {
	p := ts.Value(fakeServerKey{}).(*fakeServer)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch args[0] {
	case "fail", "refuse":
		f := faultOf(number(ts, args[3]), args[4], args[5:]...)
		f.oauth = args[0] == "refuse"
		p.plan(args[1], number(ts, args[2]), f)
	case "outage":
		switch p.outage = nil; args[1] {
		case "pass":
		case "drop":
			p.outage = &plannedFault{drop: true}
		default:
			f := faultOf(number(ts, args[1]), args[2], args[3:]...)
			p.outage = &f
		}
	case "body":
		p.plan(args[1], 1, plannedFault{status: number(ts, args[2]), body: args[3]})
	case "drop":
		if args[2] == "-1" {
			delete(p.faults, args[1])
			break
		}
		p.plan(args[1], number(ts, args[2]), plannedFault{drop: true})
	case "host":
		p.hosts[args[1]] = args[2]
	case "result":
		p.result[args[1]] = args[2]
	case "cap":
		p.setCap(args[1], number(ts, args[2]))
	case "pow":
		p.bits = number(ts, args[1])
	case "rewrite":
		name, text := ts.MkAbs(args[1]), args[2]
		p.onStart = func() { os.WriteFile(name, []byte(text), 0o666) }
	case "remove":
		name := ts.MkAbs(args[1])
		p.onStart = func() { os.Remove(name) }
	case "longest":
		p.people.longest = number(ts, args[1])
	case "lasts":
		p.world.lasts = true
	case "stale":
		p.stale = number(ts, args[1])
	case "calls":
		ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(p.takeCalls()), 0o666))
	case "session":
		body, err := json.Marshal(p.opened)
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(args[1]), append(body, '\n'), 0o666))
	case "stored":
		p.checkStored(ts, args[1])
	case "newer", "lenient", "draft", "file", "big", "many", "forgets", "lacks", "archived", "title", "others", "lists", "has", "tree":
		p.tellWorld(ts, args)
	case "export":
		p.tellExport(ts, args)
	case "release":
		p.tellRelease(ts, args)
	case "skill":
		p.hosts["app_url"], p.skill = p.content.URL, args[1]
	case "bundle", "zip", "cut", "digest", "zipped":
		p.tellBundle(ts, args)
	case "twist", "metadata", "device", "pending", "ends", "left", "older", "brings":
		p.tellPeople(ts, args)
	default:
		ts.Fatalf("the peer does not know %q", args[0])
	}
}

// faultOf returns an answer with headers as "Name: value".
func faultOf(status int, code string, headers ...string) plannedFault {
	f := plannedFault{status: status, code: code, header: http.Header{}}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		f.header.Set(name, value)
	}
	return f
}

func (server *fakeServer) plan(route string, times int, f plannedFault) {
	for range times {
		server.faults[route] = append(server.faults[route], f)
	}
}

func (server *fakeServer) setCap(name string, n int) {
	switch name {
	case "count":
		server.policy.FileCountCap = n
	case "file":
		server.policy.FileSizeCapBytes = int64(n)
	case "total":
		server.policy.ArtifactSizeCapBytes = int64(n)
	case "left":
		server.policy.DailyNewArtifactsRemaining = &n
	}
}

// takeCalls lists the calls. It sorts neighbouring PUTs, because they run concurrently.
func (server *fakeServer) takeCalls() string {
	calls := server.calls
	server.calls = nil
	for i := range calls {
		for j := i; j > 0 && strings.HasPrefix(calls[j], "put ") && strings.HasPrefix(calls[j-1], "put ") &&
			calls[j] < calls[j-1]; j-- {
			calls[j], calls[j-1] = calls[j-1], calls[j]
		}
	}
	return strings.Join(calls, "\n") + "\n"
}

func (server *fakeServer) checkStored(ts *testscript.TestScript, dir string) {
	root, err := os.OpenRoot(ts.MkAbs(dir))
	ts.Check(err)
	defer root.Close()
	ts.Check(server.same(root))
}
