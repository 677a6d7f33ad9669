package main

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/shared/adapter/dynamo"
)

// permission is one right that a call requires.
type permission struct {
	action, resource string
	about            map[string]string
}

// String returns the action, the resource and, where there is one, the leading key.
func (p permission) String() string {
	return strings.TrimSpace(p.action + " " + p.resource + " " + p.about[leadingKeys])
}

const leadingKeys = "dynamodb:LeadingKeys"

// permissionsOf lists the rights that a call requires, with resources named as the templates'
// constructs.
func permissionsOf(parameters any, tables dynamo.Tables) (out []permission) {
	named := map[string]string{tables.Core: "Core.Arn", tables.Events: "Events.Arn", tables.Hot: "Hot.Arn"}
	table := func(action string, name *string) {
		out = append(out, permission{action: "dynamodb:" + action, resource: named[*name]})
	}
	// IAM compares all leading keys of a call; here each is a permission of its own, which is
	// equivalent.
	keyed := func(action, name string, keys map[string]types.AttributeValue) {
		leading := keys["pk"].(*types.AttributeValueMemberS).Value
		out = append(out, permission{"dynamodb:" + action, named[name], map[string]string{leadingKeys: leading}})
	}
	object := func(action string, key *string, kms string) {
		out = append(out, permission{action: "s3:" + action, resource: "Objects.Arn/" + *key},
			permission{"kms:" + kms, "Key.Arn", map[string]string{
				"kms:ViaService": "s3.AWS::Region.amazonaws.com", "kms:EncryptionContext:aws:s3:arn": "Objects.Arn",
			}})
	}
	switch in := parameters.(type) {
	case *dynamodb.GetItemInput:
		keyed("GetItem", *in.TableName, in.Key)
	case *dynamodb.PutItemInput:
		keyed("PutItem", *in.TableName, in.Item)
	case *dynamodb.UpdateItemInput:
		keyed("UpdateItem", *in.TableName, in.Key)
	case *dynamodb.DeleteItemInput:
		keyed("DeleteItem", *in.TableName, in.Key)
	case *dynamodb.BatchWriteItemInput:
		for name, writes := range in.RequestItems {
			for _, w := range writes {
				if w.PutRequest != nil {
					keyed("BatchWriteItem", name, w.PutRequest.Item)
				} else {
					keyed("BatchWriteItem", name, w.DeleteRequest.Key)
				}
			}
		}
	case *dynamodb.BatchGetItemInput:
		for name, asked := range in.RequestItems {
			for _, k := range asked.Keys {
				keyed("BatchGetItem", name, k)
			}
		}
	case *dynamodb.QueryInput:
		if of, named := strings.CutPrefix(*in.KeyConditionExpression, "#pk = "); named && in.IndexName == nil {
			of, _, _ = strings.Cut(of, " ")
			keyed("Query", *in.TableName, map[string]types.AttributeValue{"pk": in.ExpressionAttributeValues[of]})
			break
		}
		table("Query", in.TableName)
		if in.IndexName != nil {
			out[len(out)-1].resource += "/index/" + *in.IndexName
		}
	case *dynamodb.TransactWriteItemsInput:
		for _, i := range in.TransactItems {
			switch {
			case i.Put != nil:
				keyed("PutItem", *i.Put.TableName, i.Put.Item)
			case i.Update != nil:
				keyed("UpdateItem", *i.Update.TableName, i.Update.Key)
			case i.Delete != nil:
				keyed("DeleteItem", *i.Delete.TableName, i.Delete.Key)
			case i.ConditionCheck != nil:
				keyed("ConditionCheckItem", *i.ConditionCheck.TableName, i.ConditionCheck.Key)
			}
		}
	case *s3.GetObjectInput:
		object("GetObject", in.Key, "Decrypt")
	case *s3.HeadObjectInput:
		object("GetObject", in.Key, "Decrypt")
	case *s3.DeleteObjectsInput:
		for _, o := range in.Delete.Objects {
			out = append(out, permission{action: "s3:DeleteObject", resource: "Objects.Arn/" + *o.Key})
		}
	case *s3.PutObjectInput:
		object("PutObject", in.Key, "GenerateDataKey")
	case *s3.CreateMultipartUploadInput:
		object("PutObject", in.Key, "GenerateDataKey")
	case *s3.UploadPartInput:
		object("PutObject", in.Key, "Decrypt")
	case *s3.CompleteMultipartUploadInput:
		object("PutObject", in.Key, "Decrypt")
	case *s3.AbortMultipartUploadInput:
		out = append(out, permission{action: "s3:AbortMultipartUpload", resource: "Objects.Arn/" + *in.Key})
	case *s3.ListObjectsV2Input:
		out = append(out, permission{"s3:ListBucket", "Objects.Arn", map[string]string{"s3:prefix": aws.ToString(in.Prefix)}})
	default:
		out = append(out, permission{action: fmt.Sprintf("something unknown: %T", in)})
	}
	return out
}
