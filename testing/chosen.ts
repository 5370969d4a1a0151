import type { Chance } from './adversary/seed.ts'

/** So many of the items, each at most once, as this seed draws them. */
export function chosenBy<Item>(chance: Chance, items: readonly Item[], count: number): Item[] {
  const left = [...items]
  return Array.from(
    { length: Math.min(count, left.length) },
    () => left.splice(chance.below(left.length), 1)[0]!,
  )
}
