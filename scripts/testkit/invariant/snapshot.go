package invariant

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/tree"
)

// item is a stored item, decoded without the code that wrote it.
type item map[string]types.AttributeValue

func (i item) text(name string) string {
	v, _ := i[name].(*types.AttributeValueMemberS)
	if v == nil {
		return ""
	}
	return v.Value
}

func (i item) number(name string) int64 {
	v, _ := i[name].(*types.AttributeValueMemberN)
	if v == nil {
		return 0
	}
	n, _ := strconv.ParseInt(v.Value, 10, 64)
	return n
}

func (i item) bytes(name string) []byte {
	v, _ := i[name].(*types.AttributeValueMemberB)
	if v == nil {
		return nil
	}
	return v.Value
}

func (i item) texts(name string) []string {
	v, _ := i[name].(*types.AttributeValueMemberSS)
	if v == nil {
		return nil
	}
	return v.Value
}

func (i item) has(name string) bool { return i[name] != nil }

// snapshot is the state of a deployment, by id.
type snapshot struct {
	core, events, hot []item

	workspaces, sessions, keys, claims, links map[string]item
	fences                                    map[string][]item // by workspace
	moves                                     map[string]item   // that are not done, by source
	aliases                                   map[string]item   // by destination and source
	artifacts                                 map[string]*artifact
	gate                                      item
	pins                                      map[string]item  // counters, by workspace
	objects, diffs, bundles, archives         map[string]int64 // sizes, by key in the bucket
	hints, references, deletions              map[string]item  // by home and content, by object and revision, by object
}

// artifact is an artifact with its revisions and their files.
type artifact struct {
	id        string
	meta      item
	revisions map[string]item
	trees     map[string]tree.Tree
}

func (a *artifact) is(status string) bool { return a.meta.text("status") == status }

// artifact statuses and revision statuses as they are stored.
const (
	live, deleted     = "active", "deleted"
	draft, published  = "draft", "published"
	expired, retained = "expired", "retained"
)

func (d Deployment) read(ctx context.Context) (*snapshot, error) {
	s := &snapshot{
		workspaces: map[string]item{},
		sessions:   map[string]item{},
		keys:       map[string]item{},
		claims:     map[string]item{},
		links:      map[string]item{},
		pins:       map[string]item{},
		fences:     map[string][]item{},
		moves:      map[string]item{},
		aliases:    map[string]item{},
		artifacts:  map[string]*artifact{},
		objects:    map[string]int64{},
		diffs:      map[string]int64{},
		bundles:    map[string]int64{},
		archives:   map[string]int64{},
		hints:      map[string]item{},
		references: map[string]item{},
		deletions:  map[string]item{},
	}
	for table, to := range map[string]*[]item{d.Tables.Core: &s.core, d.Tables.Events: &s.events, d.Tables.Hot: &s.hot} {
		if err := d.scan(ctx, table, to); err != nil {
			return nil, err
		}
	}
	for _, i := range s.core {
		s.sort(i)
	}
	for w := range s.workspaces {
		for kind, to := range map[string]map[string]int64{
			"o": s.objects,
			"d": s.diffs,
			"b": s.bundles,
			"x": s.archives,
		} {
			if err := d.list(ctx, kind+"/"+w+"/", to); err != nil {
				return nil, err
			}
		}
	}
	return s, d.readTrees(ctx, s)
}

func (d Deployment) scan(ctx context.Context, table string, to *[]item) error {
	pages := dynamodb.NewScanPaginator(d.DynamoDB, &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, i := range page.Items {
			*to = append(*to, i)
		}
	}
	return nil
}

func (d Deployment) list(ctx context.Context, prefix string, to map[string]int64) error {
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

// sort adds an item of table core to its map.
func (s *snapshot) sort(i item) {
	kind, name, _ := strings.Cut(i.text("pk"), "#")
	part, sub, _ := strings.Cut(i.text("sk"), "#")
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
			for _, o := range i.texts("objs") {
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
		if i.has("files") {
			s.artifact(name).trees[sub] = nil
		}
	case "A M":
		s.artifact(name).trees[sub] = nil
	case "CFG C":
		if name == "provision" {
			s.gate = i
		}
	}
}

func (s *snapshot) artifact(name string) *artifact {
	a := s.artifacts[name]
	if a == nil {
		a = &artifact{id: name, revisions: map[string]item{}, trees: map[string]tree.Tree{}}
		s.artifacts[name] = a
	}
	return a
}

// readTrees unpacks the files of all revisions with the code that packed them.
func (d Deployment) readTrees(ctx context.Context, s *snapshot) error {
	store := dynamo.New(d.DynamoDB, d.Tables)
	for _, a := range s.artifacts {
		for r := range a.trees {
			files, err := store.Artifacts.Tree(ctx, id.Artifact(a.id), id.Revision(r))
			if err != nil {
				return fmt.Errorf("the files of revision %s: %w", r, err)
			}
			a.trees[r] = files
		}
	}
	return nil
}
