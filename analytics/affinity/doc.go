// Package affinity measures which products are owned together. What belongs here: counting owners and co-owners from
// one stream of accounts, the association measures of a pair of products, their p and q values, and the rendering of a
// stored pair as two directed entries. It reads no clock, no database and no random number.
//
// The overall matrix and one per segment come out of the same pass. Only counters are kept, so memory depends on the
// number of products alone: bitsets over accounts would be smaller work for dense data, but the order of purchase and
// the bundles have to be looked at per co-owner anyway.
//
// Decisions where the definitions leave room:
//   - The family of the Benjamini-Hochberg correction is every unordered pair of the scope whose two products both have
//     an owner in it, pairs never owned together included: leaving those out would pick the family by its outcome.
//   - The minimum count of owners applies to the antecedent of the direction, so a -> b may be significant while
//     b -> a is not.
//   - lead_share is taken over the co-owners whose two dates are known; bought on the same day counts for neither side.
//   - A purchase counts towards a bundle only if both dates and both bundle ids are known and equal.
package affinity
