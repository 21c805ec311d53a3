package expansion

// list is a slice that grows by pieces: what it holds is never copied, so that growing needs no room for a second copy.
type list[T any] struct {
	pieces [][]T
	len    int
}

const pieceLen = 1 << 14

func (l *list[T]) add(v T) {
	if l.len%pieceLen == 0 {
		l.pieces = append(l.pieces, make([]T, 0, pieceLen))
	}
	last := &l.pieces[len(l.pieces)-1]
	*last = append(*last, v)
	l.len++
}

func (l *list[T]) at(i int) *T { return &l.pieces[i/pieceLen][i%pieceLen] }
