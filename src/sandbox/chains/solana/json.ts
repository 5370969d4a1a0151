import { randomUUID } from 'node:crypto'

const mark = randomUUID()
const marked = new RegExp(`"${mark}(\\d+)"`, 'g')

/** Writes JSON in which numbers of 64 bits have all their digits. */
export const jsonText = (value: unknown): string =>
  JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? `${mark}${each}` : each)).replace(
    marked,
    '$1',
  )
