package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/internal/crowd"
	"vitrine/scripts/testkit/rows"
)

// destruction is what a round destroys of the living site, whose engines run and whose hosts do not.
type destruction struct {
	name    string
	events  bool                                // they survive
	destroy func(context.Context, *round) error // nil: all of it stays
}

// destructions are the kinds of rounds, which take turns.
var destructions = []destruction{
	{"nothing", true, nil},
	{"tables", false, dropTables},
	{"objects", true, deleteObjects},
	{"prefix", true, deleteWorkspace},
	{"row", true, spoilRow},
	{"torn", true, tear},
	{"rings", true, loseRings},
	{"folder", false, loseFolder},
	{"torn, tables", false, tearAndDrop},
}

func tearAndDrop(ctx context.Context, r *round) error {
	return errors.Join(tear(ctx, r), dropTables(ctx, r))
}

func dropTables(ctx context.Context, r *round) error {
	d := r.living.Deployment()
	for _, table := range []string{d.Tables.Core, d.Tables.Events, d.Tables.Hot} {
		if _, err := d.DynamoDB.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &table}); err != nil {
			return err
		}
	}
	return nil
}

func deleteObjects(ctx context.Context, r *round) error { return r.deletePrefix(ctx, "o/") }

// deletePrefix deletes the objects with a prefix, as a function with too many rights could.
func (r *round) deletePrefix(ctx context.Context, prefix string) error {
	d := r.living.Deployment()
	pages := s3.NewListObjectsV2Paginator(d.S3, &s3.ListObjectsV2Input{Bucket: &d.Bucket, Prefix: &prefix})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, o := range page.Contents {
			if _, err := d.S3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &d.Bucket, Key: o.Key}); err != nil {
				return err
			}
		}
	}
	return nil
}

// deleteWorkspace deletes the artifacts of one workspace and its objects, past the service.
func deleteWorkspace(ctx context.Context, r *round) error {
	of, err := r.someAccount()
	if err != nil {
		return err
	}
	d := r.living.Deployment()
	items, err := found(ctx, d, d.Tables.Core, func(i rows.Item) bool {
		return slices.ContainsFunc(of.Artifacts, func(a *crowd.Artifact) bool { return i.Text("pk") == "A#"+string(a.ID) })
	})
	if err == nil {
		err = remove(ctx, d, d.Tables.Core, items)
	}
	return errors.Join(err, r.deletePrefix(ctx, "o/"+string(of.Workspace)+"/"))
}

// spoilRow takes everything but its keys from an artifact.
func spoilRow(ctx context.Context, r *round) error {
	of, err := r.someAccount()
	if err != nil {
		return err
	}
	d := r.living.Deployment()
	a := of.Artifacts[r.random.IntN(len(of.Artifacts))]
	_, err = d.DynamoDB.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &d.Tables.Core,
		Item:      rows.Item{"pk": rows.Text("A#" + string(a.ID)), "sk": rows.Text("META"), "status": rows.Text("spoiled")},
	})
	return err
}

// loseRings deletes the key rings of the living site.
func loseRings(_ context.Context, r *round) error {
	return os.Remove(filepath.Join(r.living.Data, "rings.json"))
}

// loseFolder deletes the data folder.
func loseFolder(ctx context.Context, r *round) error {
	return errors.Join(r.living.Stop(ctx), os.RemoveAll(r.living.Data))
}

// someAccount returns an account with artifacts.
func (r *round) someAccount() (*crowd.Account, error) {
	workers := r.crowd.Workers
	for _, n := range r.random.Perm(len(workers)) {
		for _, a := range workers[n].Accounts {
			if len(a.Artifacts) > 0 {
				return a, nil
			}
		}
	}
	return nil, errors.New("no worker has published anything")
}
