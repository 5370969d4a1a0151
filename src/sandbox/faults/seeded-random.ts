/** Pseudo-random draws from one seed: the same seed draws the same values, so that a failure can be repeated. */
export type SeededRandom = {
  seed: number
  /** A number from 0 up to 1, 1 excluded. */
  next(): number
  /** A whole number from 0 up to `limit`, that excluded. */
  below(limit: number): number
  /** A whole number from `first` to `last`, both included. */
  between(first: number, last: number): number
  /** True once in `times` on average. */
  oneIn(times: number): boolean
  pick<Item>(items: readonly Item[]): Item
  /** `count` different items in random order, or all when there are fewer. */
  sample<Item>(items: readonly Item[], count: number): Item[]
}

export function seededRandom(seed: number): SeededRandom {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    seed,
    next,
    below,
    between: (first, last) => first + below(last - first + 1),
    oneIn: (times) => below(times) === 0,
    pick: (items) => items[below(items.length)]!,
    sample: (items, count) => {
      const left = [...items]
      return Array.from(
        { length: Math.min(count, left.length) },
        () => left.splice(below(left.length), 1)[0]!,
      )
    },
  }
}
