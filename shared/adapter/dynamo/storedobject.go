package dynamo

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

// StoredObject is an object of the bucket that table core names.
type StoredObject struct {
	Home    id.Workspace
	Object  tree.Object
	Content tree.Content
	// Needed means that a draft or a published revision of a live artifact has it. Other objects may be deleted already.
	Needed bool
}

// StoredObjects calls visit for each file with bytes that a stored revision has, and for each entry of the content
// index. An object that several of them name is visited as often. It scans the table twice, so no other process may
// write meanwhile.
func StoredObjects(ctx context.Context, client *dynamodb.Client, t Tables, visit func(StoredObject) error) error {
	s := storedObjects{
		artifacts: map[id.Artifact]item{},
		retained:  map[id.Revision]bool{},
		visit:     visit,
	}
	if err := scan(ctx, client, t.Core, s.note); err != nil {
		return err
	}
	return scan(ctx, client, t.Core, s.files)
}

// storedObjects remembers what decides about files before it reads their lists, because a list comes before the
// revision that has it.
type storedObjects struct {
	artifacts map[id.Artifact]item
	retained  map[id.Revision]bool
	visit     func(StoredObject) error
}

// note remembers an artifact or a revision, and visits an entry of the content index.
func (s storedObjects) note(i item) error {
	k := i.key()
	switch a := partitionID[id.Artifact](k); {
	case k == artifactKey(a):
		s.artifacts[a] = item{"status": i["status"], "home": i["home"]}
	case k == revisionKey(a, sortID[id.Revision](k)):
		s.retained[sortID[id.Revision](k)] = i.getStr("status") == string(artifact.Retained)
	case strings.HasPrefix(k.pk, contentPrefix):
		home, content, ok := parseContentKey(k)
		if !ok {
			return fmt.Errorf("%s is no entry of the content index", k.pk)
		}
		return s.visit(StoredObject{Home: home, Object: readObject(i.getStr("obj")), Content: content})
	}
	return nil
}

// files visits the files of a revision.
func (s storedObjects) files(i item) error {
	k, packed := i.key(), i.getBin(filesName)
	a := s.artifacts[partitionID[id.Artifact](k)]
	if packed == nil || a == nil || k.pk != artifactKey(partitionID[id.Artifact](k)).pk {
		return nil
	}
	files, err := unpackTree(packed)
	if err != nil {
		return fmt.Errorf("%s %s: %w", k.pk, k.sk, err)
	}
	for _, f := range files {
		if f.Size == 0 {
			continue
		}
		err := s.visit(StoredObject{
			Home:    id.Workspace(a.getStr("home")),
			Object:  f.Object,
			Content: f.Content(),
			Needed:  a.getStr("status") == string(artifact.Live) && !s.retained[sortID[id.Revision](k)],
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Files returns the list of files in an item of table core; nil: it has none.
func Files(i map[string]types.AttributeValue) (tree.Tree, error) {
	packed := item(i).getBin(filesName)
	if packed == nil {
		return nil, nil
	}
	return unpackTree(packed)
}

// scan calls visit for every item of a table, reading strongly.
func scan(ctx context.Context, client *dynamodb.Client, table string, visit func(item) error) error {
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return unavailable(err)
		}
		for _, i := range page.Items {
			if err := visit(i); err != nil {
				return err
			}
		}
	}
	return nil
}
