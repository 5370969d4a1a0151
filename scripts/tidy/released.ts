import { createHash } from 'node:crypto'
import type { Rule } from './repository.ts'

/** The migrations of released versions: the first version that had each, and its sum. */
export type ReleasedMigrations = Record<string, { since: string; sha256: string }>

export const releasedFile = 'migrations/released.json'

export const releasedRule: Rule = {
  name: 'a migration that was released stays as it is',
  why: `Databases have applied it, and refuse a version that has another one. ${releasedFile} has the sums; add a migration instead.`,
  check: ({ files }) => {
    const textOf = (path: string) => files.find((file) => file.path === path)?.text
    const released = JSON.parse(textOf(releasedFile) ?? '{}') as ReleasedMigrations
    return Object.entries(released).flatMap(([name, { since, sha256 }]) => {
      const text = textOf(`migrations/${name}`)
      if (text === undefined) return [`migrations/${name} is gone, and ${since} had it`]
      const isSame = createHash('sha256').update(text).digest('hex') === sha256
      return isSame ? [] : [`migrations/${name} is not as ${since} had it`]
    })
  },
}
