package copies_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/internal/backup/copies"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/local/engines"
	"vitrine/scripts/local/folder"
	"vitrine/scripts/testkit/disk"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/port"
)

func TestACopyIsNotMadeInTheData(t *testing.T) {
	data, elsewhere := t.TempDir(), t.TempDir()
	disk.Write(t, data, map[string]string{"dynamodb.db": ""})
	link := filepath.Join(elsewhere, "link")
	expect.OK(t, os.Symlink(data, link))
	for _, to := range []string{data, filepath.Join(data, "new", "copies"), link, filepath.Join(link, "copies")} {
		_, err := copies.Take(t.Context(), copies.Options{Data: data, To: to, Out: t.Output()})
		expect.Error(t, err, "lies in the data folder", "elsewhere")
	}
	_, err := copies.Take(t.Context(), copies.Options{Data: elsewhere, To: t.TempDir(), Out: t.Output()})
	expect.Error(t, err, elsewhere, "--data")
}

// TestTwoCopiesAtOnceAreOne begins a copy while another one is under way.
func TestTwoCopiesAtOnceAreOne(t *testing.T) {
	d := newEnv(t)
	second := d.options
	begun := false
	d.options.Out = writer(func() {
		if !begun {
			begun = true
			_, err := copies.Take(t.Context(), second)
			expect.Error(t, err, "another copy", d.options.To)
		}
	})
	d.take(t)
	if all := d.list(t); !begun || len(all) != 1 {
		t.Errorf("there are %v", all)
	}
}

// writer is called instead of being written to.
type writer func()

func (w writer) Write(p []byte) (int, error) {
	w()
	return len(p), nil
}

// TestAMissingObjectIsNamed removes objects from the bucket: one of a live artifact, and one that the tables still name
// and nobody needs.
func TestAMissingObjectIsNamed(t *testing.T) {
	d := newEnv(t)
	g := d.NewAgent(t)
	gone := harness.PublishPage(t, g, "gone")
	both := d.take(t)
	harness.DeleteArtifact(t, g, gone.ArtifactID)
	remove := func(key string) {
		_, err := d.options.Engines.S3Client().DeleteObject(t.Context(),
			&s3.DeleteObjectInput{Bucket: &d.options.Engines.Bucket, Key: &key})
		expect.OK(t, err, os.RemoveAll(both.Dir))
	}
	remove(both.Objects[0].Key)
	if c := d.take(t); len(c.Objects) != 0 {
		t.Errorf("the copy has %v", c.Objects)
	}
	harness.PublishPage(t, g, "live")
	both = d.take(t)
	remove(both.Objects[0].Key)
	_, err := copies.Take(t.Context(), d.options)
	expect.Error(t, err, both.Objects[0].Key, "missing")
	d.wantNothingUnfinished(t)
}

func TestDamageIsFound(t *testing.T) {
	d := newEnv(t)
	harness.PublishPage(t, d.NewAgent(t), "one")
	for name, harm := range map[string]func(copies.Copy) (file string, err error){
		"a byte of an object":  func(c copies.Copy) (string, error) { return flip(c.ObjectFile(c.Objects[0].Key)) },
		"a byte of the tables": func(c copies.Copy) (string, error) { return flip(c.Database()) },
		"a byte of the rings":  func(c copies.Copy) (string, error) { return flip(c.RingFile("rings.json")) },
		"a missing object": func(c copies.Copy) (string, error) {
			file := c.ObjectFile(c.Objects[0].Key)
			return file, os.Remove(file)
		},
		"an object that the manifest lacks": func(c copies.Copy) (string, error) {
			key := c.Objects[0].Key
			c.Manifest.Objects = nil
			return key, os.WriteFile(filepath.Join(c.Dir, "copy.json"), expect.Value(json.Marshal(c.Manifest))(t), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := d.take(t)
			file, err := harm(c)
			expect.OK(t, err)
			c = expect.Value(copies.Open(c.Dir))(t)
			expect.Error(t, c.Verify(t.Context(), t.Output()), file)
			expect.OK(t, os.RemoveAll(c.Dir)) // so that the next one shares nothing with it
		})
	}
}

// flip changes one bit in the middle of a file.
func flip(file string) (string, error) {
	bytes, err := os.ReadFile(file)
	if err == nil {
		bytes[len(bytes)/2] ^= 1
		err = os.WriteFile(file, bytes, 0o600)
	}
	return file, err
}

func TestWhatIsNoCopyIsRefused(t *testing.T) {
	dir := t.TempDir()
	disk.Write(t, dir, map[string]string{
		"20261129T130531Z/copy.json":         `{"format": 2, "version": "9.9.9"}`,
		"20261129T130532Z.partial/copy.json": `{"format": 1}`,
		"empty/x":                            "",
		"broken/copy.json":                   `{`,
		"up/copy.json":                       `{"format": 1, "objects": [{"key": "o/../../../x"}]}`,
		"other/copy.json":                    `{"format": 1, "objects": [{"key": "x/ws/1"}]}`,
		"ring/copy.json":                     `{"format": 1, "rings": [{"name": "../rings.json"}]}`,
	})
	for name, says := range map[string]string{
		"20261129T130531Z":         "version 9.9.9",
		"20261129T130532Z.partial": "unfinished",
		"empty":                    "no copy",
		"broken":                   "damaged",
		"up":                       "no key",
		"other":                    "no key",
		"ring":                     "no name",
	} {
		_, err := copies.Open(filepath.Join(dir, name))
		expect.Error(t, err, says)
	}
	_, err := copies.Newest(t.TempDir())
	expect.Error(t, err, "no finished copy", "scripts/backup")
}

// TestTheEnginesOfTheDataAreFound copies beside a stack that has the folder, which tells its ports or does not, and
// copies the folder again when no stack runs.
func TestTheEnginesOfTheDataAreFound(t *testing.T) {
	base := port.Base(t)
	d := newEnvOn(t, engines.Options{
		Dir:          filepath.Join(t.TempDir(), "data"),
		DynamoDBPort: base + 11,
		S3Port:       base + 12,
		Own:          true,
	})
	harness.PublishPage(t, d.NewAgent(t), "one")
	running := d.options.Engines
	d.options.Engines = nil
	for _, told := range []int{base, 0} {
		lock := expect.Value(folder.Take(d.options.Data, folder.User{PID: os.Getpid(), Base: told}))(t)
		if told == 0 {
			_, err := copies.Take(t.Context(), d.options)
			expect.Error(t, err, "--ports")
			d.options.Base = base
		}
		if c := d.take(t); len(c.Objects) != 1 {
			t.Errorf("the copy has %d objects", len(c.Objects))
		}
		expect.OK(t, lock.Release())
	}
	d.options.Base = 0
	expect.OK(t, running.Close(), os.RemoveAll(d.options.To))
	if c := d.take(t); len(c.Objects) != 1 {
		t.Errorf("the copy without a stack has %d objects", len(c.Objects))
	}
	expect.OK(t, expect.Value(folder.Take(d.options.Data, folder.User{}))(t).Release())
}
