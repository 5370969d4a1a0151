import { randomInt } from 'node:crypto'

/** So many tries, over about a day, and a notification is given up. */
export const attemptsMax = 32
/** One that is older is tried once more at most: an endpoint that was away for long is not owed everything it missed. */
export const keptTryingMs = 3 * 86_400_000
/** How often one is tried before later ones of the same resource no longer wait for it. */
export const attemptsInOrder = 5

const firstMs = 1_000
const longestMs = 3_600_000

/** How long to wait after so many failures in a row, from 1: twice as long each time, give or take a quarter. */
export function backOffMs(failures: number): number {
  const ms = Math.min(firstMs * 2 ** Math.min(failures - 1, 20), longestMs)
  return Math.round(ms * (0.75 + randomInt(0, 501) / 1_000))
}
