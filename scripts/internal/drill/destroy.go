package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"vitrine/scripts/internal/crowd"
	"vitrine/scripts/internal/restore/rows"
	"vitrine/scripts/testkit/invariant"
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
		if err != nil || len(page.Contents) == 0 {
			return err
		}
		listed := &s3types.Delete{}
		for _, o := range page.Contents {
			listed.Objects = append(listed.Objects, s3types.ObjectIdentifier{Key: o.Key})
		}
		if _, err := d.S3.DeleteObjects(ctx, &s3.DeleteObjectsInput{Bucket: &d.Bucket, Delete: listed}); err != nil {
			return err
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
	for _, a := range of.Artifacts {
		items, err := partition(ctx, d, "A#"+string(a.ID))
		if err != nil {
			return err
		}
		for _, i := range items {
			if err := rows.Of(d).Remove(ctx, d.Tables.Core, rows.Item{"pk": i["pk"], "sk": i["sk"]}); err != nil {
				return err
			}
		}
	}
	return r.deletePrefix(ctx, "o/"+string(of.Workspace)+"/")
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

// partition reads all items of the core table with a partition key.
func partition(ctx context.Context, d invariant.Deployment, pk string) ([]map[string]types.AttributeValue, error) {
	out, err := d.DynamoDB.Query(ctx, &dynamodb.QueryInput{
		TableName:                 &d.Tables.Core,
		ConsistentRead:            aws.Bool(true),
		KeyConditionExpression:    aws.String("pk = :pk"),
		ExpressionAttributeValues: rows.Item{":pk": rows.Text(pk)},
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", strings.SplitN(pk, "#", 2)[0], err)
	}
	return out.Items, nil
}
