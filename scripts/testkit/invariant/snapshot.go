package invariant

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/testkit/rows"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/publishing/tree"
)

// snapshot is the state of a deployment, by id.
type snapshot struct {
	core, events, hot []rows.Item

	workspaces, sessions, keys, claims, links map[string]rows.Item
	fences                                    map[string][]rows.Item // by workspace
	moves                                     map[string]rows.Item   // that are not done, by source
	aliases                                   map[string]rows.Item   // by destination and source
	artifacts                                 map[string]*artifact
	gate                                      rows.Item
	pins                                      map[string]rows.Item // counters, by workspace
	objects, diffs, bundles, archives         map[string]int64     // sizes, by key in the bucket
	hints, references, deletions              map[string]rows.Item // by home and content, by object and revision, by object
}

// artifact is an artifact with its revisions and their files.
type artifact struct {
	id        string
	meta      rows.Item
	revisions map[string]rows.Item
	trees     map[string]tree.Tree
}

func (a *artifact) is(status string) bool { return a.meta.Text("status") == status }

// artifact statuses and revision statuses as they are stored.
const (
	live, deleted     = "active", "deleted"
	draft, published  = "draft", "published"
	expired, retained = "expired", "retained"
)

func (d Deployment) read(ctx context.Context) (*snapshot, error) {
	s := &snapshot{
		workspaces: map[string]rows.Item{},
		sessions:   map[string]rows.Item{},
		keys:       map[string]rows.Item{},
		claims:     map[string]rows.Item{},
		links:      map[string]rows.Item{},
		pins:       map[string]rows.Item{},
		fences:     map[string][]rows.Item{},
		moves:      map[string]rows.Item{},
		aliases:    map[string]rows.Item{},
		artifacts:  map[string]*artifact{},
		objects:    map[string]int64{},
		diffs:      map[string]int64{},
		bundles:    map[string]int64{},
		archives:   map[string]int64{},
		hints:      map[string]rows.Item{},
		references: map[string]rows.Item{},
		deletions:  map[string]rows.Item{},
	}
	for table, to := range map[string]*[]rows.Item{d.Tables.Core: &s.core, d.Tables.Events: &s.events, d.Tables.Hot: &s.hot} {
		for i, err := range d.Rows().Scan(ctx, table) {
			if err != nil {
				return nil, err
			}
			*to = append(*to, i)
		}
	}
	for _, i := range s.core {
		if err := s.sort(i); err != nil {
			return nil, fmt.Errorf("%s %s: %w", i.Text("pk"), i.Text("sk"), err)
		}
	}
	for w := range s.workspaces {
		for kind, to := range map[string]map[string]int64{
			"o": s.objects,
			"d": s.diffs,
			"b": s.bundles,
			"x": s.archives,
		} {
			if err := d.List(ctx, kind+"/"+w+"/", to); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// List adds the sizes of the objects whose keys begin with a prefix, by key.
func (d Deployment) List(ctx context.Context, prefix string, to map[string]int64) error {
	pages := s3.NewListObjectsV2Paginator(d.S3, &s3.ListObjectsV2Input{Bucket: &d.Bucket, Prefix: &prefix})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, o := range page.Contents {
			to[aws.ToString(o.Key)] = aws.ToInt64(o.Size)
		}
	}
	return nil
}

// sort adds an item of table core to its map. It unpacks files with the code that packed them.
func (s *snapshot) sort(i rows.Item) (err error) {
	kind, name, _ := strings.Cut(i.Text("pk"), "#")
	part, sub, _ := strings.Cut(i.Text("sk"), "#")
	switch kind + " " + part {
	case "W META":
		s.workspaces[name] = i
	case "W PINS":
		s.pins[name] = i
	case "W FENCE":
		s.fences[name] = append(s.fences[name], i)
	case "W ALIAS":
		s.aliases[name+" "+sub] = i
	case "JOB J":
		if job, of, _ := strings.Cut(name, "#"); job == "DELETE" {
			for _, o := range i.Texts("objs") {
				entry, _, _ := strings.Cut(o, "#")
				s.deletions[of+"#"+entry] = i
			}
		} else {
			s.moves[of] = i
		}
	case "B H":
		s.hints[name] = i
	case "O R":
		s.references[name+" "+sub] = i
	case "K K":
		s.keys[name] = i
	case "CT C":
		s.claims[name] = i
	case "AL L":
		s.links[name] = i
	case "U META":
		s.sessions[name] = i
	case "A META":
		s.artifact(name).meta = i
	case "A R":
		s.artifact(name).revisions[sub] = i
		if i.Has("files") {
			s.artifact(name).trees[sub], err = dynamo.Files(i)
		}
	case "A M":
		s.artifact(name).trees[sub], err = dynamo.Files(i)
	case "CFG C":
		if name == "provision" {
			s.gate = i
		}
	}
	return err
}

func (s *snapshot) artifact(name string) *artifact {
	a := s.artifacts[name]
	if a == nil {
		a = &artifact{id: name, revisions: map[string]rows.Item{}, trees: map[string]tree.Tree{}}
		s.artifacts[name] = a
	}
	return a
}
