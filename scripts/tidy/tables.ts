import type { Repository, Rule, SourceFile } from './repository.ts'

type Table = { name: string; body: string; file: string; tenant: boolean }

/** All tables under their present names. */
function tablesOf(repository: Repository): Table[] {
  const migrations = repository.matching(/^migrations\/.*\.sql$/)
  const renames = migrations.flatMap(({ text }) => [
    ...text.matchAll(/^alter table (\w+) rename to (\w+);/gm),
  ])
  const renamed = new Map(renames.map(([, from, to]) => [from!, to!]))
  return migrations.flatMap(({ path, text }) =>
    [...text.matchAll(/create table (\w+) \(([\s\S]*?)\n\);/g)].map(([, name, body]) => ({
      name: renamed.get(name!) ?? name!,
      body: body!,
      file: path,
      tenant: /\bentity_id uuid\b/.test(body!),
    })),
  )
}

/** The owner that a store belongs to: an engine with all its folders, or the folder that holds the store. */
const ownerOf = (path: string): string =>
  /^src\/engines\/[^/]+/.exec(path)?.[0] ?? path.replace(/\/store(\.ts|\/).*/, '')

/** The SQL of a file: the content of its tagged templates, without the comments around them. */
const queriesOf = (text: string): string =>
  [...text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '').matchAll(/`[^`]*`/g)]
    .map(([query]) => query)
    .join('\n')

export const tableOwnerRule: Rule = {
  name: 'a table has one owner',
  why: 'Only the store of its owner names a table; everybody else asks the owner.',
  check: (repository) => {
    const sources = repository.matching(/^src\/.*\.ts$/).filter(({ path }) => !path.endsWith('.test.ts'))
    return tablesOf(repository).flatMap(({ name }) => {
      const named = new RegExp(`\\b(from|join|into|update|table)\\s+${name}\\b`)
      const names = ({ text }: SourceFile) =>
        named.test(queriesOf(text)) || text.includes(`table('${name}', {`)
      const users = sources.filter(names).map((file) => file.path)
      const strays = users.filter(
        (path) => !/\/store(\.ts|\/)/.test(path) && path !== 'src/runtime/db/migrate.ts',
      )
      const owners = new Set(users.filter((path) => !strays.includes(path)).map(ownerOf))
      return [
        ...strays.map((path) => `${path} names the table ${name} outside a store`),
        ...(owners.size > 1 ? [`${name} is named by the stores of ${[...owners].join(' and ')}`] : []),
      ]
    })
  },
}

export const migrationNumberRule: Rule = {
  name: 'migrations are numbered apart',
  why: 'Their numbers are the order in which they are applied.',
  check: (repository) => {
    const paths = repository.matching(/^migrations\/.*\.sql$/).map(({ path }) => path)
    const numbers = paths.map((path) => path.slice('migrations/'.length, 'migrations/'.length + 4))
    return paths
      .filter((_, index) => numbers.indexOf(numbers[index]!) !== index)
      .map((path) => `${path} takes a number again`)
  },
}

export const tenantKeyRule: Rule = {
  name: 'tenant tables start their keys with entity_id',
  why: 'So that rows can be sharded and isolated by tenant without change.',
  check: (repository) => {
    const tables = tablesOf(repository)
    const tenant = new Set(tables.filter((table) => table.tenant).map((table) => table.name))
    const keys = tables
      .filter((table) => table.tenant)
      .flatMap(({ name, body, file }) => {
        const found = [
          ...body.matchAll(/^ {2}(primary key|unique(?: nulls not distinct)?|foreign key) \(([^)]*)\)/gm),
        ]
        const single = /^ {2}entity_id uuid primary key/m.test(body)
        const missing =
          !single && !found.some(([, kind]) => kind === 'primary key')
            ? [`${file} ${name} has no composite primary key`]
            : []
        return [
          ...missing,
          ...found
            .filter(([, , list]) => !list!.startsWith('entity_id'))
            .map(([, kind, list]) => `${file} ${name}: ${kind} (${list})`),
        ]
      })
    const indexes = repository
      .matching(/^migrations\//)
      .flatMap(({ path, text }) =>
        [...text.matchAll(/create unique index (\w+) on (\w+) \((\w+)/g)]
          .filter(([, , table, first]) => tenant.has(table!) && first !== 'entity_id')
          .map(([, index]) => `${path} unique index ${index}`),
      )
    return [...keys, ...indexes]
  },
}

export const lockedChoiceRule: Rule = {
  name: 'rows to change are chosen once',
  why: 'A subquery that locks may be run again for each row, and change more than was chosen: choose in `with … as materialized (`.',
  check: (repository) =>
    repository
      .matching(/^src\/.*\/store(\/.*)?\.ts$/)
      .flatMap(({ path, text }) =>
        [...text.matchAll(/\bfor (no key )?update\b|\$\{inLockOrder\}/g)]
          .filter(({ index }) => /\b(from|in|join|lateral) $/.test(textBeforeParenthesis(text, index)))
          .map(({ index }) => `${path}:${text.slice(0, index).split('\n').length} locks in a subquery`),
      ),
}

/** The text before the parenthesis that encloses `index`; empty at the beginning of the query. */
function textBeforeParenthesis(text: string, index: number): string {
  let depth = 0
  for (let at = index - 1; at >= 0 && text[at] !== '`'; at--) {
    if (text[at] === ')') depth++
    if (text[at] === '(' && depth-- === 0) return text.slice(Math.max(0, at - 20), at)
  }
  return ''
}

const camelName = '"[a-z0-9]+[A-Z]\\w*"'
const renamedColumn = new RegExp(
  `\\bas\\s+${camelName}|\\.${camelName}|${camelName} (uuid|text|integer|bigint|int8|numeric|boolean|jsonb|timestamptz)\\b`,
  'g',
)

export const columnNameRule: Rule = {
  name: 'statements name columns as the tables do',
  why: 'The reader of rows gives columns the names of the program, and jsonOf those of columns to rows that are sent.',
  check: (repository) =>
    repository
      .matching(/^(src|bench|testing)\/.*\.ts$/)
      .flatMap(({ path, text }) =>
        [...text.matchAll(renamedColumn)].map(
          ({ 0: name, index }) => `${path}:${text.slice(0, index).split('\n').length} ${name}`,
        ),
      ),
}
