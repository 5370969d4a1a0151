import type { Repository, Rule } from './repository.ts'

/** The last of the migrations that say each table once: databases begin with them, so what they insert is no move of data. */
const lastOfFirstRelease = '0015_webhooks.sql'

/** Whether a migration writes rows when it is applied, and not only by functions that it creates. */
export const movesData = (text: string): boolean =>
  /\b(?:insert\s+into\s+(?!notified_kinds\b)|delete\s+from\s|update\s+(?:only\s+)?\w+\s+(?:as\s+)?(?:\w+\s+)?set\s)/i.test(
    text
      .replaceAll(/\/\*[\s\S]*?\*\/|--.*$/gm, '')
      .replaceAll(/\bcreate\s+(?:or\s+replace\s+)?function\b[\s\S]*?\$\$[\s\S]*?\$\$/gi, ''),
  )

export const movedDataRule: Rule = {
  name: 'a migration that moves data has a test',
  why: 'A wrong move is found in a database of a customer otherwise, where it cannot be taken back.',
  check: (repository: Repository) => {
    const migrations = repository.matching(/^migrations\/\d{4}_.*\.sql$/)
    const untested = migrations.flatMap(({ path, text }) => {
      const name = path.slice('migrations/'.length)
      if (name <= lastOfFirstRelease || !movesData(text)) return []
      const folder = `testing/migrations/${name.replace(/\.sql$/, '')}`
      const missing = ['before.sql', 'after.sql'].filter((file) => !repository.exists(`${folder}/${file}`))
      return missing.map((file) => `${path} moves data and has no ${folder}/${file}`)
    })
    const stray = repository
      .matching(/^testing\/migrations\//)
      .filter(({ path }) => !repository.exists(`migrations/${path.split('/')[2]}.sql`))
      .map(({ path }) => `${path} tests no migration`)
    return [...untested, ...stray]
  },
}
