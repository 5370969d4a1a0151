/** Pseudo-random numbers, the same for the same seed, so that a failed run can be repeated. */
export type Dice = {
  /** A whole number from 0 to `sides` - 1. */
  roll(sides: number): number
  /** A whole number from `from` to `to`, both included. */
  between(from: number, to: number): number
  /** True once in `times` on average. */
  oneIn(times: number): boolean
  pick<Item>(items: readonly Item[]): Item
}

export function diceOf(seed: number): Dice {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const roll = (sides: number) => Math.floor(next() * sides)
  return {
    roll,
    between: (from, to) => from + roll(to - from + 1),
    oneIn: (times) => roll(times) === 0,
    pick: (items) => items[roll(items.length)]!,
  }
}
