package cloud

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/testkit/engine"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/dynamo"
)

// standIn stands in for DynamoDB in the calls with which it restores tables and keeps their settings, which the engine
// does not know. All other calls reach the engine. What it answers is what AWS documents; only an account proves that.
type standIn struct {
	t      *testing.T
	url    string
	engine *dynamodb.Client
	pass   http.Handler
	now    func() time.Time

	mu       sync.Mutex
	earliest time.Time
	settings map[string]*settings
	past     map[string][]state // of each table, the oldest first
	backups  map[string]state   // by ARN
	writes   []string           // operations that change something
}

// settings are what the engine does not keep of a table.
type settings struct {
	Creating  int // how often it still says that it is being made
	Updating  int
	Early     bool // the next request for point-in-time recovery comes too early
	History   bool
	Protected bool
	Stream    string
	Most      map[string]any // ceilings by index; "" is the table
	Tags      map[string]string
}

// state is a table at an instant.
type state struct {
	at    time.Time
	table string
	items []map[string]types.AttributeValue
}

type document = map[string]any

func newStandIn(t *testing.T, now func() time.Time) *standIn {
	t.Helper()
	e := engine.Shared(t)
	target := expect.Value(url.Parse(e.DynamoDB))(t)
	s := &standIn{
		t:        t,
		engine:   e.DynamoDBClient(),
		pass:     httputil.NewSingleHostReverseProxy(target),
		now:      now,
		earliest: now().Add(-35 * 24 * time.Hour),
		settings: map[string]*settings{},
		past:     map[string][]state{},
		backups:  map[string]state{},
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// adopt makes the tables of a deployment what AWS would have of them.
func (s *standIn) adopt(names dynamo.Tables, deployment string) {
	for _, name := range []string{names.Core, names.Events, names.Hot} {
		s.settings[name] = &settings{
			History:   name != names.Hot,
			Protected: true,
			Tags:      map[string]string{nameTag: deployment},
		}
	}
}

// remember keeps what tables are now, as point-in-time recovery does all the time.
func (s *standIn) remember(names ...string) time.Time {
	s.t.Helper()
	at := s.now().UTC().Truncate(time.Second)
	for _, name := range names {
		s.past[name] = append(s.past[name], state{at, name, s.items(name)})
	}
	return at
}

// lose deletes a table with a backup, as a mistake of the operator does.
func (s *standIn) lose(name string) time.Time {
	s.t.Helper()
	at := s.now().UTC().Truncate(time.Second)
	if s.settings[name].History {
		s.backups["arn:aws:dynamodb:r:1:table/"+name+"/backup/1"] = state{at, name, s.items(name)}
	}
	_, err := s.engine.DeleteTable(s.t.Context(), &dynamodb.DeleteTableInput{TableName: &name})
	expect.OK(s.t, err)
	delete(s.settings, name)
	return at
}

func (s *standIn) items(name string) (all []map[string]types.AttributeValue) {
	s.t.Helper()
	pages := dynamodb.NewScanPaginator(s.engine, &dynamodb.ScanInput{TableName: &name, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		all = append(all, expect.Value(pages.NextPage(s.t.Context()))(s.t).Items...)
	}
	return all
}

// refusal is an error of DynamoDB.
type refusal struct{ kind, text string }

func (s *standIn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	var in document
	_ = json.Unmarshal(body, &in)
	answer, refused, ours := s.answer(operation, in)
	switch {
	case refused != nil:
		w.WriteHeader(http.StatusBadRequest)
		answer = document{"__type": "com.amazonaws.dynamodb.v20120810#" + refused.kind, "message": refused.text}
	case !ours:
		s.passOn(w, r, operation, in)
		return
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// passOn asks the engine, and completes what it says of a table.
func (s *standIn) passOn(w http.ResponseWriter, r *http.Request, operation string, in document) {
	if operation != "DescribeTable" {
		s.pass.ServeHTTP(w, r)
		return
	}
	said := httptest.NewRecorder()
	s.pass.ServeHTTP(said, r)
	var out document
	if json.Unmarshal(said.Body.Bytes(), &out); out["Table"] != nil {
		s.complete(out["Table"].(document), s.of(in))
	}
	w.WriteHeader(said.Code)
	_ = json.NewEncoder(w).Encode(out)
}

// of returns the settings of the table that a request names, by name or by ARN.
func (s *standIn) of(in document) *settings {
	name, _ := in["TableName"].(string)
	if arn, ok := in["ResourceArn"].(string); ok {
		name = arn[strings.LastIndex(arn, "/")+1:]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.settings[name] == nil {
		s.settings[name] = &settings{}
	}
	return s.settings[name]
}

func (s *standIn) complete(table document, c *settings) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.Creating > 0 {
		c.Creating--
		table["TableStatus"] = "CREATING"
	} else if c.Updating > 0 {
		c.Updating--
		table["TableStatus"] = "UPDATING"
	}
	table["DeletionProtectionEnabled"] = c.Protected
	if c.Stream != "" {
		table["StreamSpecification"] = document{"StreamEnabled": true, "StreamViewType": c.Stream}
		table["LatestStreamArn"] = table["TableArn"].(string) + "/stream/1"
	}
	table["OnDemandThroughput"] = c.Most[""]
	indexes, _ := table["GlobalSecondaryIndexes"].([]any)
	for _, i := range indexes {
		index := i.(document)
		index["OnDemandThroughput"] = c.Most[index["IndexName"].(string)]
	}
}

// answer answers a call that the engine does not know. Whether it does is its third result.
func (s *standIn) answer(operation string, in document) (document, *refusal, bool) {
	changes := map[string]func(document) *refusal{
		"RestoreTableToPointInTime": s.restoreToInstant,
		"RestoreTableFromBackup":    s.restoreBackup,
		"UpdateContinuousBackups":   s.updateHistory,
		"UpdateTable":               s.updateTable,
		"TagResource":               s.tag,
	}
	if strings.HasPrefix(operation, "Update") || strings.HasPrefix(operation, "Delete") || changes[operation] != nil ||
		strings.HasPrefix(operation, "Put") || strings.Contains(operation, "Write") || operation == "CreateTable" {
		s.mu.Lock()
		s.writes = append(s.writes, operation)
		s.mu.Unlock()
	}
	if change := changes[operation]; change != nil {
		return document{}, change(in), true
	}
	switch operation {
	case "ListBackups":
		return s.listBackups(in), nil, true
	case "DescribeContinuousBackups":
		return s.describeHistory(in), nil, true
	case "ListTagsOfResource":
		var tags []document
		for k, v := range s.of(in).Tags {
			tags = append(tags, document{"Key": k, "Value": v})
		}
		return document{"Tags": tags}, nil, true
	case "UpdateTimeToLive":
		if c := s.of(in); c.Creating > 0 {
			return nil, &refusal{"ResourceInUseException", "the table is being created"}, true
		}
	case "DeleteTable":
		return nil, s.mayDelete(in), false
	}
	return nil, nil, false
}

func (s *standIn) mayDelete(in document) *refusal {
	if s.of(in).Protected {
		return &refusal{"ValidationException", "the table is protected against deletion"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.settings, in["TableName"].(string))
	return nil
}

func (s *standIn) restoreToInstant(in document) *refusal {
	at := time.UnixMilli(int64(in["RestoreDateTime"].(float64) * 1000))
	var newest *state
	for i, p := range s.past[in["SourceTableName"].(string)] {
		if !p.at.After(at) {
			newest = &s.past[p.table][i]
		}
	}
	if newest == nil || at.Before(s.earliest) {
		return &refusal{"InvalidRestoreTimeException", "no history of that instant"}
	}
	return s.restore(*newest, in["TargetTableName"].(string))
}

func (s *standIn) restoreBackup(in document) *refusal {
	b, known := s.backups[in["BackupArn"].(string)]
	if !known {
		return &refusal{"BackupNotFoundException", "no such backup"}
	}
	return s.restore(b, in["TargetTableName"].(string))
}

func (s *standIn) restore(from state, to string) *refusal {
	definitions := dynamo.Definitions(dynamo.Tables{Core: to, Events: to, Hot: to})
	in := definitions[1]
	if strings.HasSuffix(from.table, "-core") {
		in = definitions[0]
	}
	if _, err := s.engine.CreateTable(s.t.Context(), in); err != nil {
		return &refusal{"TableAlreadyExistsException", err.Error()}
	}
	for _, i := range from.items {
		_, err := s.engine.PutItem(s.t.Context(), &dynamodb.PutItemInput{TableName: &to, Item: i})
		if err != nil {
			s.t.Error(err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings[to] = &settings{Creating: 2, Early: true}
	return nil
}

func (s *standIn) listBackups(in document) document {
	var found []document
	for arn, b := range s.backups {
		if b.table == in["TableName"] && in["BackupType"] == "SYSTEM" {
			found = append(found, document{
				"BackupArn": arn, "BackupStatus": "AVAILABLE", "BackupType": "SYSTEM", "BackupCreationDateTime": b.at.Unix(),
			})
		}
	}
	return document{"BackupSummaries": found}
}

func (s *standIn) describeHistory(in document) document {
	status := "DISABLED"
	if s.of(in).History {
		status = "ENABLED"
	}
	return document{"ContinuousBackupsDescription": document{
		"ContinuousBackupsStatus": "ENABLED",
		"PointInTimeRecoveryDescription": document{
			"PointInTimeRecoveryStatus":  status,
			"EarliestRestorableDateTime": s.earliest.Unix(),
			"LatestRestorableDateTime":   s.now().Add(-5 * time.Minute).Unix(),
		},
	}}
}

func (s *standIn) updateHistory(in document) *refusal {
	c := s.of(in)
	if c.Early {
		c.Early = false
		return &refusal{"ContinuousBackupsUnavailableException", "backups are being enabled"}
	}
	wanted := in["PointInTimeRecoverySpecification"].(document)
	c.History = wanted["PointInTimeRecoveryEnabled"] == true && wanted["RecoveryPeriodInDays"] == 35.0
	return nil
}

// updateTable refuses several changes at once, as AWS does.
func (s *standIn) updateTable(in document) *refusal {
	c := s.of(in)
	s.mu.Lock()
	defer s.mu.Unlock()
	kinds := 0
	for _, kind := range []string{"DeletionProtectionEnabled", "StreamSpecification"} {
		if in[kind] != nil {
			kinds++
		}
	}
	ceilings := map[string]any{}
	if most := in["OnDemandThroughput"]; most != nil {
		ceilings[""] = most
	}
	updates, _ := in["GlobalSecondaryIndexUpdates"].([]any)
	for _, u := range updates {
		one := u.(document)["Update"].(document)
		ceilings[one["IndexName"].(string)] = one["OnDemandThroughput"]
	}
	if len(ceilings) > 0 {
		kinds++
	}
	if kinds != 1 || c.Updating > 0 || c.Creating > 0 {
		return &refusal{"ValidationException", "one change at a time"}
	}
	if p, given := in["DeletionProtectionEnabled"].(bool); given {
		c.Protected = p
	}
	if stream, given := in["StreamSpecification"].(document); given {
		c.Stream = stream["StreamViewType"].(string)
	}
	if c.Most == nil {
		c.Most = map[string]any{}
	}
	maps.Copy(c.Most, ceilings)
	c.Updating = 1
	return nil
}

func (s *standIn) tag(in document) *refusal {
	c := s.of(in)
	if c.Tags == nil {
		c.Tags = map[string]string{}
	}
	for _, t := range in["Tags"].([]any) {
		tag := t.(document)
		c.Tags[tag["Key"].(string)] = tag["Value"].(string)
	}
	return nil
}
