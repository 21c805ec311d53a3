// Package journal keeps what the sandbox must not lose when it is killed: an append-only file of keyed JSON entries,
// the last one of a key counting. What belongs here: the file. What the entries mean belongs to whoever writes them.
package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Entry is the last value of a key; Value is null for a dropped one, which is never handed out.
type Entry struct {
	Key   string          `json:"k"`
	Value json.RawMessage `json:"v"`
}

// Journal writes entries. A nil Journal keeps nothing.
type Journal struct {
	mu   sync.Mutex
	file *os.File
}

// Open reads dir's journal, compacts it, and returns its entries in the order in which their keys first appeared. A
// torn last line, all that a kill can leave, is dropped. With dir "" nothing is kept.
func Open(dir string) (*Journal, []Entry, error) {
	if dir == "" {
		return nil, nil, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, fmt.Errorf("making the state directory: %w", err)
	}
	path := filepath.Join(dir, "journal.jsonl")
	entries, err := read(path)
	if err != nil {
		return nil, nil, err
	}
	if err := rewrite(path, entries); err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("opening the journal: %w", err)
	}
	return &Journal{file: f}, entries, nil
}

// read returns the last entry of each key.
func read(path string) ([]Entry, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the journal: %w", err)
	}
	var all []Entry
	at := map[string]int{}
	for n := 1; len(content) > 0; n++ {
		line, rest, whole := bytes.Cut(content, []byte{'\n'})
		content = rest
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil {
			if !whole {
				break // torn by a kill
			}
			return nil, fmt.Errorf("%s line %d is damaged: %w", path, n, err)
		}
		if i, ok := at[e.Key]; ok {
			all[i].Value = e.Value
			continue
		}
		at[e.Key] = len(all)
		all = append(all, e)
	}
	live := all[:0]
	for _, e := range all {
		if len(e.Value) > 0 && !bytes.Equal(e.Value, []byte("null")) {
			live = append(live, e)
		}
	}
	return live, nil
}

// rewrite replaces the file in one step.
func rewrite(path string, entries []Entry) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".journal-*")
	if err != nil {
		return fmt.Errorf("compacting the journal: %w", err)
	}
	defer os.Remove(f.Name())
	w := bufio.NewWriter(f)
	enc := json.NewEncoder(w)
	for _, e := range entries {
		if err = enc.Encode(e); err != nil {
			break
		}
	}
	err = errors.Join(err, w.Flush(), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("compacting the journal: %w", err)
	}
	return nil
}

// Put records a key's new value. It has reached the kernel when Put returns, so a kill of this process loses nothing.
func (j *Journal) Put(key string, value any) error {
	if j == nil {
		return nil
	}
	v, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("journal entry %s: %w", key, err)
	}
	line, err := json.Marshal(Entry{Key: key, Value: v})
	if err != nil {
		return fmt.Errorf("journal entry %s: %w", key, err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("writing the journal: %w", err)
	}
	return nil
}

// Drop forgets a key.
func (j *Journal) Drop(key string) error { return j.Put(key, nil) }

// Close closes the file.
func (j *Journal) Close() error {
	if j == nil {
		return nil
	}
	return j.file.Close()
}
