// Package vault seals the secrets that are stored: OAuth grants and what belongs to an authorization in progress. It
// holds a Tink keyset in a file that only the service may read. What belongs here: sealing, unsealing, rotation of the
// keyset. Who owns a secret and where it is stored is the business of the caller.
package vault

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/tink-crypto/tink-go/v2/aead"
	"github.com/tink-crypto/tink-go/v2/insecurecleartextkeyset"
	"github.com/tink-crypto/tink-go/v2/keyset"
	"github.com/tink-crypto/tink-go/v2/tink"

	"revarch/fault"
)

// Vault seals and unseals with the keyset of one file. It is safe for concurrent use, also across processes that share
// the file: a keyset that another process rotated is read again when a secret cannot be unsealed with the known one.
type Vault struct {
	path string

	mu     sync.RWMutex
	handle *keyset.Handle
	aead   tink.AEAD
}

// Open reads the keyset at path and creates it, with mode 0600, when it is missing. Faults: Conflict when others may
// read the file.
func Open(path string) (*Vault, error) {
	v := &Vault{path: path}
	err := v.load()
	if errors.Is(err, fs.ErrNotExist) {
		if err := create(path); err != nil {
			return nil, err
		}
		err = v.load()
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

// AD is the associated data of a secret: it can be unsealed only where it belongs.
func AD(org, provider, use string) []byte { return []byte(org + "\x00" + provider + "\x00" + use) }

// Seal encrypts with the primary key of the keyset.
func (v *Vault) Seal(plaintext, ad []byte) ([]byte, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	sealed, err := v.aead.Encrypt(plaintext, ad)
	if err != nil {
		return nil, fault.Wrap(err, fault.Internal, "seal secret")
	}
	return sealed, nil
}

// Unseal decrypts with whichever key of the keyset sealed. Faults: ReauthRequired when none did, which means that the
// keyset was lost or replaced.
func (v *Vault) Unseal(sealed, ad []byte) ([]byte, error) {
	plain, err := v.unseal(sealed, ad)
	if err == nil {
		return plain, nil
	}
	if err := v.load(); err != nil { // another process may have rotated
		return nil, err
	}
	if plain, err = v.unseal(sealed, ad); err != nil {
		return nil, fault.New(fault.ReauthRequired, "The stored credentials cannot be read with the keyset of this installation. Connect the provider again.")
	}
	return plain, nil
}

func (v *Vault) unseal(sealed, ad []byte) ([]byte, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.aead.Decrypt(sealed, ad)
}

// Rotate adds a key and makes it the primary one. Older keys stay, so that what they sealed can be read; seal it again
// to be rid of them.
func (v *Vault) Rotate() error {
	if err := v.load(); err != nil {
		return err
	}
	v.mu.RLock()
	m := keyset.NewManagerFromHandle(v.handle)
	v.mu.RUnlock()
	id, err := m.Add(aead.AES256GCMKeyTemplate())
	if err != nil {
		return fmt.Errorf("add key: %w", err)
	}
	if err := m.SetPrimary(id); err != nil {
		return fmt.Errorf("make key primary: %w", err)
	}
	return v.replace(m)
}

// DropOldKeys removes every key but the primary one. Call it only once everything is sealed again.
func (v *Vault) DropOldKeys() error {
	if err := v.load(); err != nil {
		return err
	}
	v.mu.RLock()
	info := v.handle.KeysetInfo()
	m := keyset.NewManagerFromHandle(v.handle)
	v.mu.RUnlock()
	for _, k := range info.GetKeyInfo() {
		if k.GetKeyId() == info.GetPrimaryKeyId() {
			continue
		}
		if err := m.Delete(k.GetKeyId()); err != nil {
			return fmt.Errorf("drop key: %w", err)
		}
	}
	return v.replace(m)
}

// Keys returns how many keys the keyset holds.
func (v *Vault) Keys() int {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.handle.Len()
}

func (v *Vault) replace(m *keyset.Manager) error {
	handle, err := m.Handle()
	if err != nil {
		return fmt.Errorf("build keyset: %w", err)
	}
	staged, err := stage(v.path, handle)
	if err != nil {
		return err
	}
	if err := os.Rename(staged, v.path); err != nil {
		_ = os.Remove(staged)
		return fmt.Errorf("replace keyset: %w", err)
	}
	return v.load()
}

func (v *Vault) load() error {
	info, err := os.Stat(v.path)
	if err != nil {
		return fmt.Errorf("find keyset: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fault.New(fault.Conflict, "the keyset file may be read by other users; run: chmod 600 %s", v.path)
	}
	raw, err := os.ReadFile(v.path)
	if err != nil {
		return fmt.Errorf("read keyset: %w", err)
	}
	handle, err := insecurecleartextkeyset.Read(keyset.NewJSONReader(bytes.NewReader(raw)))
	if err != nil {
		return fault.New(fault.Conflict, "the keyset file is damaged; restore it from a backup") // the cause may quote keys
	}
	primitive, err := aead.New(handle)
	if err != nil {
		return fault.New(fault.Conflict, "the keyset file holds no usable keys; restore it from a backup")
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.handle, v.aead = handle, primitive
	return nil
}

// create writes a new keyset; when two processes do so at once, one keyset wins and both use it.
func create(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make keyset folder: %w", err)
	}
	handle, err := keyset.NewHandle(aead.AES256GCMKeyTemplate())
	if err != nil {
		return fmt.Errorf("make keyset: %w", err)
	}
	staged, err := stage(path, handle)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(staged) }()
	if err := os.Link(staged, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("create keyset: %w", err)
	}
	return nil
}

// stage writes a keyset beside its final place, on the disk before it counts.
func stage(path string, handle *keyset.Handle) (string, error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".keyset-*") // mode 0600
	if err != nil {
		return "", fmt.Errorf("stage keyset: %w", err)
	}
	err = errors.Join(insecurecleartextkeyset.Write(handle, keyset.NewJSONWriter(f)), f.Sync(), f.Close())
	if err != nil {
		_ = os.Remove(f.Name())
		return "", fmt.Errorf("write keyset: %w", err)
	}
	return f.Name(), nil
}
