package folder

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// noise are names that nobody means to publish, at any depth.
var noise = []string{
	".git", ".svn", ".hg", ".idea", ".vscode", "node_modules", "__pycache__", ".venv", ".ds_store", "thumbs.db", ownIgnore,
}

// secretNames are patterns of files that usually hold credentials, in lower case.
var secretNames = []string{
	".env", ".env.*", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk",
	"id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*",
	".npmrc", ".netrc", "_netrc", ".pypirc", ".pgpass", ".my.cnf", ".htpasswd", ".git-credentials", ".dockercfg",
}

// secretFolders are folders that are kept for credentials.
var secretFolders = []string{".aws", ".ssh", ".gnupg", ".kube"}

func isNoise(name string) bool { return slices.Contains(noise, strings.ToLower(name)) }

// isSecret tells whether a file or folder name looks like a credential. Case does not matter: some file systems ignore it.
func isSecret(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains(secretFolders, name) || slices.ContainsFunc(secretNames, func(pattern string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

// secretFolder returns the first part of an absolute path that is a folder for credentials, "" without one.
func secretFolder(absolute string) string {
	for part := range strings.SplitSeq(filepath.ToSlash(absolute), "/") {
		if slices.Contains(secretFolders, strings.ToLower(part)) {
			return part
		}
	}
	return ""
}
