package deletion

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"golang.org/x/sync/errgroup"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// longLives lets artifacts of members outlive the grace, so that the removal has to end them.
func longLives(o *stack.Options) {
	free := o.Limits.Tiers[limits.Free]
	free.DefaultLife, free.MaxLife = 60*limits.Day, 60*limits.Day
	tiers := map[limits.Tier]limits.Policy{limits.Free: free}
	for tier, policy := range o.Limits.Tiers {
		if tier != limits.Free {
			tiers[tier] = policy
		}
	}
	o.Limits.Tiers = tiers
}

// logo is a file that many artifacts have.
var logo = wire.File{Path: "logo.png", Body: harness.RandomBytes(7, 2_000)}

// publishMany publishes artifacts at once, a few at a time: some have a second revision, a link, or a file that another
// one has too.
func (p *person) publishMany(t testing.TB, n int) (all []contract.Published) {
	t.Helper()
	all = make([]contract.Published, n)
	var publishers errgroup.Group
	publishers.SetLimit(4)
	for i := range all {
		publishers.Go(func() (err error) {
			files := []wire.File{harness.Page(fmt.Sprintf("artifact %d of %s", i, p.email))}
			if i%9 == 0 {
				files = append(files, logo)
			}
			all[i], err = p.PublishFiles(ctx, fmt.Sprintf("number %d", i), "", files...)
			if err == nil && i%12 == 0 {
				_, err = p.PublishFiles(ctx, "again", all[i].ArtifactID, harness.Page(fmt.Sprintf("more of %d", i)))
			}
			return err
		})
	}
	harness.NoError(t, publishers.Wait())
	return all
}

// fill gives a workspace something of every kind.
func (p *person) fill(t testing.TB, artifacts int) []contract.Published {
	t.Helper()
	s := p.s
	all := p.publishMany(t, artifacts)
	for _, a := range all[:min(3, len(all))] {
		harness.CreateLink(t, p.Agent, a.ArtifactID, harness.ShareLink)
		harness.CreateLink(t, p.Agent, a.ArtifactID, harness.RevisionLink(a.RevisionID))
	}
	harness.CallAs[contract.WebArtifact](t, p.member, 200, "POST",
		"/v1/web/artifacts/"+string(all[0].ArtifactID)+"/pin", nil, harness.KeyHeader()...)
	harness.DeleteArtifact(t, p.Agent, all[1].ArtifactID)
	harness.DraftPage(t, p.Agent, "a draft")
	harness.Must(p.Create(ctx, wire.NewKey(), wire.Declare("abandoned", harness.Page("never sent"))))(t)
	for n := range 3 {
		made := harness.CreatedKey(t, harness.TryCreateKey(t, p.member, fmt.Sprint("key ", n), wire.NewKey()))
		if n == 0 {
			path := "/v1/web/keys/" + string(made.APIKey.ID) + "/revoke"
			harness.CallAs[contract.RevokedKey](t, p.member, 200, "POST", path, nil, harness.KeyHeader()...)
		}
	}
	p.browser.CLIToken(t) // an app that is connected
	p.claim(t)
	p.report(t, all[2])
	s.Put(t, harness.Item{}, map[string]any{ // of an export
		"pk": "W#" + string(p.workspace.ID), "sk": "EXPORT", "state": "ready",
	})
	p.putObject(t, "x/"+string(p.workspace.ID)+"/export.zip")
	s.Clock.Advance(limits.UploadPatience)
	harness.NoError(t, s.Bundler.Run(ctx))
	harness.NoError(t, s.Host.Run(ctx))
	return all
}

// claim takes over a workspace of an agent, with an artifact and a link, and lets in an agent with a code.
func (p *person) claim(t testing.TB) contract.Published {
	t.Helper()
	source := p.s.NewSource(t)
	made := harness.PublishPage(t, source.Agent, "of an agent")
	harness.CreateLink(t, source.Agent, made.ArtifactID, harness.RevisionLink(made.RevisionID))
	if a := harness.TryClaim(t, p.member.Agent, source.ClaimToken); a.Status != 200 {
		t.Fatalf("the claim answers %d %s", a.Status, a.Body)
	}
	return made
}

// report reports an artifact for abuse.
func (p *person) report(t testing.TB, made contract.Published) {
	t.Helper()
	form := url.Values{"target": {made.RevisionContentURL}, "reason": {"phishing_report"}}
	a := harness.Do(t, p.s.Anyone, "POST", p.s.Origins.App+"/report", form.Encode(),
		"Content-Type", "application/x-www-form-urlencoded")
	if a.Status != 200 {
		t.Fatalf("the report answers %d %s", a.Status, a.Body)
	}
}

func (p *person) putObject(t testing.TB, key string) {
	t.Helper()
	harness.Must(p.s.S3.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &p.s.Options.Engines.Bucket, Key: &key, Body: strings.NewReader("zip"),
	}))(t)
}

// belongings are all items and objects that name a workspace or one of its people and artifacts, as texts.
func belongings(t testing.TB, s *harness.JobEnv, w id.Workspace) (all []string) {
	t.Helper()
	names := []string{string(w)}
	for _, i := range s.Scan(t, s.Tables.Core) {
		if pk, ok := strings.CutPrefix(harness.Text(i["pk"]), "A#"); ok && harness.Text(i["own"]) == string(w) {
			names = append(names, pk)
		}
	}
	for _, table := range []string{s.Tables.Core, s.Tables.Events} {
		for _, i := range s.Scan(t, table) {
			text := itemText(i)
			if slices.ContainsFunc(names, func(name string) bool { return strings.Contains(text, name) }) {
				all = append(all, text)
			}
		}
	}
	for _, kind := range []string{"o/", "d/", "b/", "x/"} {
		page := harness.Must(s.S3.ListObjectsV2(ctx, &s3.ListObjectsV2Input{
			Bucket: &s.Options.Engines.Bucket, Prefix: aws.String(kind + string(w) + "/"),
		}))(t)
		for _, o := range page.Contents {
			all = append(all, objectText(o))
		}
	}
	slices.Sort(all)
	return all
}

func itemText(i harness.Item) string {
	var names []string
	for name := range i {
		names = append(names, name+"="+harness.Text(i[name]))
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func objectText(o types.Object) string {
	return fmt.Sprint(aws.ToString(o.Key), aws.ToInt64(o.Size), aws.ToString(o.ETag), o.LastModified.Format(time.RFC3339))
}
