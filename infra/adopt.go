package main

import (
	"errors"
	"fmt"
	"maps"
	"regexp"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/jsii-runtime-go"
)

// adopted names tables and a bucket that the functions use instead of those of the stack Data, because a restore made
// them. The stack keeps its own. What a table or bucket has besides its content is not the stack's to set:
// infra/adopted compares it. An empty name stands for that of the stack; the tables are all given, or none.
type adopted struct{ Core, Events, Hot, Bucket string }

// tables reports whether the tables are adopted.
func (a adopted) tables() bool { return a.Core != "" }

// names returns what is adopted by the construct that it replaces.
func (a adopted) names() map[string]string {
	all := map[string]string{"Core": a.Core, "Events": a.Events, "Hot": a.Hot, "Objects": a.Bucket}
	maps.DeleteFunc(all, func(_, name string) bool { return name == "" })
	return all
}

var tableShape = regexp.MustCompile(`^[A-Za-z0-9_.-]{3,255}$`)

func readAdopted(c lookup) (adopted, error) {
	a := adopted{
		Core:   c.text("table-core", ""),
		Events: c.text("table-events", ""),
		Hot:    c.text("table-hot", ""),
		Bucket: c.text("bucket", ""),
	}
	if a.Bucket != "" && !bucketShape.MatchString(a.Bucket) {
		return a, fmt.Errorf("bucket is the name of a bucket, not %q", a.Bucket)
	}
	if a.Core+a.Events+a.Hot == "" {
		return a, nil
	}
	for _, name := range []string{a.Core, a.Events, a.Hot} {
		if !tableShape.MatchString(name) {
			return a, fmt.Errorf("table-core, table-events and table-hot are names of tables, all three or none, not %q", name)
		}
	}
	if a.Core == a.Events || a.Core == a.Hot || a.Events == a.Hot {
		return a, errors.New("table-core, table-events and table-hot are three tables: do not name one twice")
	}
	return a, nil
}

// exportOwn exports what functions import of the stack's own tables and bucket, whether they do so or not, because
// CloudFormation refuses to remove an output that is imported: a deployment could neither adopt nor go back.
func (d *data) exportOwn(bucket awss3.Bucket) {
	for _, v := range []*string{
		d.core.TableName(), d.core.TableArn(), d.events.TableName(), d.events.TableArn(), d.hot.TableName(), d.hot.TableArn(),
		bucket.BucketName(), bucket.BucketArn(),
		bucket.BucketRegionalDomainName(), // imported only by the distribution of an upload host with a domain
	} {
		d.stack.ExportValue(v, nil)
	}
}

// adopt replaces tables and bucket by those of the options.
func (d *data) adopt(o options) {
	if a := o.Adopted; a.tables() {
		d.restorable = append(d.restorable, d.core, d.events)
		d.core = awsdynamodb.TableV2_FromTableName(d.stack, jsii.String("AdoptedCore"), &a.Core)
		d.events = awsdynamodb.TableV2_FromTableName(d.stack, jsii.String("AdoptedEvents"), &a.Events)
		d.hot = awsdynamodb.TableV2_FromTableName(d.stack, jsii.String("AdoptedHot"), &a.Hot)
	}
	d.restorable = append(d.restorable, d.core, d.events)
	if o.Adopted.Bucket == "" {
		return
	}
	d.bucket = awss3.Bucket_FromBucketName(d.stack, jsii.String("AdoptedObjects"), &o.Adopted.Bucket)
	statements := append(d.guards(o),
		d.refuse("DenyPlainHTTP", map[string]any{"Bool": map[string]any{"aws:SecureTransport": "false"}}, "s3:*"),
		d.refuse("DenyOldTLS", map[string]any{"NumericLessThan": map[string]any{"s3:TlsVersion": minTLS}}, "s3:*"))
	// A statement that is added to an imported bucket is dropped without a word, so the policy is a resource of its own.
	awss3.NewCfnBucketPolicy(d.stack, jsii.String("AdoptedPolicy"), &awss3.CfnBucketPolicyProps{
		Bucket:         d.bucket.BucketName(),
		PolicyDocument: awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &statements}),
	})
}
