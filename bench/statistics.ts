/** The median; of an even number of values, the mean of the two in the middle. */
export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (sorted.length - 1) / 2
  return ((sorted[Math.floor(at)] ?? Number.NaN) + (sorted[Math.ceil(at)] ?? Number.NaN)) / 2
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/**
 * Measures several things alternately, so that other load on the machine affects all of them alike. The order is reversed
 * every other round. Returns each thing's value per round.
 */
export async function alternateRounds<Name extends string>(
  rounds: number,
  things: Record<Name, () => Promise<number>>,
  onRound: (round: number, values: Record<Name, number>) => void = () => undefined,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(things) as Name[]
  const measured = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) measured[name].push(await things[name]())
    onRound(
      round,
      Object.fromEntries(names.map((name) => [name, measured[name].at(-1)])) as Record<Name, number>,
    )
  }
  return measured
}

/** The median over the rounds of the ratio of the first to the second in the same round. */
export const ratioOf = (values: readonly number[], references: readonly number[]): number =>
  median(values.map((value, round) => value / references[round]!))
