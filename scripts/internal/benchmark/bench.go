package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"vitrine/scripts/testkit/engine"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/id"
)

// bench is everything that runs.
type bench struct {
	options
	stderr io.Writer

	folder string // of all data; goes at the end
	place  place
	hosts  *hosts
	known  processes // of hosts and engines; found when they are asked for
	bare   totals    // of operations that ask engines only
	anyone *wire.Agent
	agents []*wire.Agent
	read   published
}

// published is the artifact that is read.
type published struct {
	workspace id.Workspace
	artifact  id.Artifact
	session   id.Session
	sizes     []int64
	urls      []string
}

// manyClients is how many clients work at the same time in every second row.
const manyClients = 16

func run(ctx context.Context, o options, stdout, stderr io.Writer) error {
	b := &bench{options: o, stderr: stderr}
	err := b.start(ctx)
	if b.measure == nil {
		b.mode = standard
	}
	if err == nil {
		err = b.measure(b, ctx, stdout)
	}
	if ctx.Err() != nil {
		err = ctx.Err() // asked to stop: what else broke broke by that
	}
	return errors.Join(err, b.stop())
}

// flows measures the publish flow and content reads beside their bare calls.
func (b *bench) flows(ctx context.Context, stdout io.Writer) error {
	groups, err := b.groups(ctx)
	if err == nil {
		err = b.runGroups(ctx, groups)
	}
	if err == nil {
		report(stdout, groups)
	}
	return err
}

// start brings up engines and hosts, a workspace for each client, and the files to read.
func (b *bench) start(ctx context.Context) error {
	b.say("starting engines and hosts")
	var err error
	if b.folder, err = os.MkdirTemp("", "vitrine-bench-"); err != nil {
		return err
	}
	b.place.tables = "bench"
	at := engine.Options{Dir: b.folder}
	if b.inMemory {
		at.Dir = ""
	}
	if b.place.engines, err = engine.Start(ctx, at); err != nil {
		return err
	}
	if err := b.serve(); err != nil {
		return err
	}
	if err := b.openGate(ctx); err != nil {
		return err
	}
	if err := b.provision(ctx); err != nil {
		return err
	}
	return b.publish(ctx)
}

// requestLog is the file of the request log.
const requestLog = "requests.log"

// serve starts the process of the hosts.
func (b *bench) serve() (err error) {
	alone := *b.place.engines
	alone.DynamoDBProcess, alone.S3Process = nil, nil // are this process's to stop
	o := order{
		Engines: &alone,
		Data:    b.folder,
		Tables:  b.place.tables,
		Log:     filepath.Join(b.folder, requestLog),
		Still:   b.still,
		Named:   b.named,
	}
	if b.functions {
		o.Functions = b.processes
	}
	b.known = processes{}
	b.hosts, err = startHosts(o, b.stderr)
	return err
}

// stop ends the hosts, then the engines, and removes the data.
func (b *bench) stop() error {
	var errs []error
	if b.hosts != nil {
		errs = append(errs, b.hosts.close())
	}
	if b.place.engines != nil {
		errs = append(errs, b.place.engines.Close())
	}
	if b.folder != "" {
		errs = append(errs, os.RemoveAll(b.folder))
	}
	return errors.Join(errs...)
}

// provision makes a workspace for each client.
func (b *bench) provision(ctx context.Context) error {
	var err error
	if b.anyone, err = wire.Discover(ctx, httpClient(nil), b.hosts.Origins.API); err != nil {
		return err
	}
	clients := manyClients
	if b.functions {
		clients = 1 // a deployment lets one address have ten a minute
	}
	for range clients {
		agent, made, err := b.anyone.Provision(ctx)
		if err != nil {
			return err
		}
		b.agents, b.read.workspace = append(b.agents, agent), made.WorkspaceID // the last one's artifact is read
	}
	return nil
}

// publish makes the artifact that is read.
func (b *bench) publish(ctx context.Context) error {
	read, err := publishRead(ctx, b.agents[len(b.agents)-1])
	read.workspace = b.read.workspace
	b.read = read
	return err
}

// publishRead publishes a small and a large file.
func publishRead(ctx context.Context, g *wire.Agent) (p published, err error) {
	files := []wire.File{{Path: "small.txt", Body: noise(smallSize)}, {Path: "large.bin", Body: noise(largeSize)}}
	draft, err := g.Draft(ctx, wire.NewKey(), wire.Declare("Read", files...), files...)
	if err != nil {
		return p, err
	}
	if _, err := g.Publish(ctx, wire.NewKey(), draft.ArtifactID, draft.RevisionID); err != nil {
		return p, err
	}
	view, err := g.AgentView(ctx, draft.ArtifactID)
	if err != nil {
		return p, err
	}
	p.artifact, p.session = draft.ArtifactID, draft.UploadSessionID
	for _, f := range view.Files {
		p.sizes, p.urls = append(p.sizes, f.SizeBytes), append(p.urls, f.URL)
	}
	return p, nil
}

// groups are the rows that were asked for; those of a group are measured together.
func (b *bench) groups(ctx context.Context) ([][]*row, error) {
	var groups [][]*row
	add := func(rows ...row) {
		var group []*row
		for _, r := range rows {
			if b.rows.MatchString(r.id()) {
				group = append(group, &r)
			}
		}
		if len(group) > 0 {
			groups = append(groups, group)
		}
	}
	for n, size := range []string{"4 KB", "1 MB"} {
		for _, clients := range []int{1, manyClients} {
			rows, err := b.readRows(ctx, n, size, clients)
			if err != nil {
				return nil, err
			}
			add(rows...)
		}
	}
	for _, r := range byClients([]row{b.coldRow(), b.publishRow()}) { // last: the hosts work on it for some time
		add(r)
	}
	if groups == nil {
		return nil, fmt.Errorf("no row matches %q", b.rows)
	}
	return groups, nil
}

// readRows are three ways to the same bytes.
func (b *bench) readRows(ctx context.Context, file int, label string, clients int) ([]row, error) {
	size := b.read.sizes[file]
	calls, err := recordCalls(ctx, b.place, b.read, file)
	if err != nil {
		return nil, err
	}
	download, err := downloading(ctx, b.place, calls, size, &b.bare)
	short := strings.ToLower(label[:1] + label[2:3])
	return []row{
		{
			name:    "content-" + short,
			title:   "Content GET, " + label + ", hot",
			clients: clients,
			work:    fetching(httpClient(nil), b.read.urls[file], size),
			logged:  1,
		},
		{
			name:    "bare-" + short,
			title:   "its three bare calls, " + label,
			clients: clients,
			work:    calling(b.place, calls, size, &b.bare),
		},
		{
			name:    "s3-" + short,
			title:   "the S3 engine's own GET, " + label,
			clients: clients,
			work:    download,
		},
	}, err
}

// runGroups measures all.
func (b *bench) runGroups(ctx context.Context, groups [][]*row) error {
	for _, group := range groups {
		names := make([]string, len(group))
		for n, r := range group {
			names[n] = r.id()
		}
		b.say("measuring %s", strings.Join(names, ", "))
		if err := b.profiled(names[0], func() error { return b.takeTurns(ctx, group) }); err != nil {
			return err
		}
	}
	return nil
}

// profiled keeps a CPU profile of the hosts for a group if asked for; of its rows, only the first asks the hosts.
func (b *bench) profiled(name string, measure func() error) error {
	if b.profiles == "" {
		return measure()
	}
	if err := os.MkdirAll(b.profiles, 0o755); err != nil {
		return err
	}
	file, err := filepath.Abs(filepath.Join(b.profiles, strings.ReplaceAll(name, "/", "-")+".pprof"))
	if err != nil {
		return err
	}
	if _, err := b.hosts.ask(profileCommand + file); err != nil {
		return err
	}
	err = measure()
	_, err2 := b.hosts.ask(stopCommand)
	return errors.Join(err, err2)
}

func (b *bench) say(format string, args ...any) { fmt.Fprintf(b.stderr, format+"\n", args...) }
