package provider

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/go-jose/go-jose/v4"
)

const (
	keysFile       = "identity.json"
	secondKeysFile = "identity-second.json"
	secretFile     = "identity-secret"
)

// keys are the private keys, the one of RS256 first.
type keys struct{ jose.JSONWebKeySet }

func (k keys) public() jose.JSONWebKeySet {
	var out jose.JSONWebKeySet
	for _, private := range k.Keys {
		out.Keys = append(out.Keys, private.Public())
	}
	return out
}

// signing returns the newest key for an algorithm.
func (k keys) signing(algorithm string) (jose.JSONWebKey, error) {
	for _, private := range k.Keys {
		if private.Algorithm == algorithm {
			return private, nil
		}
	}
	return jose.JSONWebKey{}, fmt.Errorf("there is no key for %q", algorithm)
}

// fresh are the keys of all providers of this process without stored ones, because making one takes
// a tenth of a second.
var fresh = sync.OnceValues(makeKeys)

// foreignKeys are keys that no provider publishes.
var foreignKeys = sync.OnceValues(makeKeys)

func makeKeys() (keys, error) {
	r, err1 := rsa.GenerateKey(rand.Reader, 2048)
	e, err2 := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err := errors.Join(err1, err2); err != nil {
		return keys{}, err
	}
	return keys{jose.JSONWebKeySet{Keys: []jose.JSONWebKey{
		{
			Key:       r,
			KeyID:     "rsa-" + rand.Text()[:8],
			Algorithm: "RS256",
			Use:       "sig",
		},
		ecKey(e),
	}}}, nil
}

func ecKey(e *ecdsa.PrivateKey) jose.JSONWebKey {
	return jose.JSONWebKey{
		Key:       e,
		KeyID:     "ec-" + rand.Text()[:8],
		Algorithm: "ES256",
		Use:       "sig",
	}
}

// openKeys reads the keys that a folder keeps, made if missing; without a folder they are made.
func openKeys(folder, name string, make func() (keys, error)) (k keys, err error) {
	if folder == "" {
		return make()
	}
	data, err := kept(filepath.Join(folder, name), func() ([]byte, error) {
		made, err := make()
		if err != nil {
			return nil, err
		}
		return json.Marshal(made)
	})
	if err != nil {
		return k, err
	}
	if err := json.Unmarshal(data, &k); err != nil || len(k.Keys) == 0 {
		return k, fmt.Errorf("%s in %s holds no keys: remove it to make new ones", name, folder)
	}
	return k, nil
}

// Secret returns the client's secret in a data folder, made if missing, and the file that holds it.
func Secret(folder string) (secret, file string, err error) {
	file, err = filepath.Abs(filepath.Join(folder, secretFile))
	if err != nil {
		return "", "", err
	}
	data, err := kept(file, func() ([]byte, error) { return []byte(rand.Text() + rand.Text()), nil })
	return strings.TrimSpace(string(data)), file, err
}

// kept reads a file that only its owner may read, or first writes it atomically.
func kept(file string, make func() ([]byte, error)) ([]byte, error) {
	data, err := os.ReadFile(file)
	if !errors.Is(err, fs.ErrNotExist) {
		return data, err
	}
	if data, err = make(); err != nil {
		return nil, err
	}
	temporary, err := os.CreateTemp(filepath.Dir(file), ".identity-*") // mode 0600
	if err != nil {
		return nil, err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(data)
	if err = errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return nil, err
	}
	if err := os.Link(temporary.Name(), file); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return os.ReadFile(file)
}
