/** The operations that the installed packages of the interface call, read from their programs. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { endpoints, notBuilt, removedPaths } from '#api/index'
import { root } from '#testing/runner/root'

type Operation = { method: string | undefined; path: string }

const modules = join(root, 'node_modules')
const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  devDependencies: Record<string, string>
}
const aliases = Object.entries(devDependencies).flatMap(([name, version]) =>
  version.startsWith('npm:@circle-fin/') ? [name] : [],
)
const packages = [
  ...readdirSync(join(modules, '@circle-fin')).map((name) => `@circle-fin/${name}`),
  ...aliases,
].toSorted()

/** A path in quotes, behind nothing, an address of the interface, or a variable with one. */
const pathInQuotes = /["'`](?:https:\/\/[\w.-]+\.circle\.com|\$\{[^}`]+\})?(\/v\d\/[^"'`\s]+)["'`]/g

/** The longest way from the path of a request to its method, in a generated client. */
const requestLength = 700

function operationsIn(text: string): Operation[] {
  const lines = text.replaceAll(/^\s*\*(?!\/).*$/gm, '')
  const found = [...lines.matchAll(pathInQuotes)]
  return found.map((match, at) => {
    const end = Math.min(found[at + 1]?.index ?? lines.length, match.index + requestLength)
    const [, method] = /\bmethod: ?"([A-Z]+)"/.exec(lines.slice(match.index, end)) ?? []
    return { method, path: plainPath(match[1]!) }
  })
}

/** The path with {} for each parameter, and without a query. */
const plainPath = (path: string) =>
  path
    .replaceAll(/\$?\{[^}]*\}|:\w+/g, '{}')
    .replace(/\?.*$/, '')
    .replace(/(?<!\/)\{\}$/, '')
    .replace(/\/$/, '')

/** Only the programs of one module system: both hold the same requests. */
const isProgram = (file: string) =>
  /\.(mjs|es\.js)$|(?<!\.cjs)\.js$/.test(file) && !/node_modules|\/test/.test(file)

const operationsOf = (name: string): Operation[] =>
  readdirSync(join(modules, name), { recursive: true, encoding: 'utf8' })
    .filter(isProgram)
    .flatMap((file) => operationsIn(readFileSync(join(modules, name, file), 'utf8')))

const known = [
  ...endpoints,
  ...removedPaths,
  ...notBuilt.flatMap(({ operations }) =>
    operations.map((operation) => {
      const [method, path] = operation.split(' ') as [string, string]
      return { method, path }
    }),
  ),
] as { method: string; path: string }[]

/** Whether a path is that of an operation: {} stands for one step, and the `*` of a removed path for all that follow. */
const fits = (operation: string, path: string) =>
  new RegExp(`^${operation.replaceAll(/\{[^}]+\}/g, '[^/]+').replace('*', '.+')}$`).test(path)

/** Kits append parameters to paths and have no methods beside them: there the beginning of an operation's path is enough. */
const isKnown = ({ method, path }: Operation): boolean =>
  method === undefined
    ? known.some((each) => fits(each.path.split('/').slice(0, path.split('/').length).join('/'), path))
    : known.some((each) => [method, 'ALL'].includes(each.method) && fits(each.path, path))

describe.each(packages)('%s', (name) => {
  it('calls no operation that is neither here nor listed as removed or not built', () => {
    const unknown = operationsOf(name).filter((operation) => !isKnown(operation))
    expect(unknown.map(({ method, path }) => `${method ?? 'any'} ${path}`)).toEqual([])
  })
})

it.each<[string, number]>([
  ['@circle-fin/circle-sdk', 74],
  ['@circle-fin/smart-contract-platform', 25],
  ['@circle-fin/developer-controlled-wallets', 50],
  ['developer-controlled-wallets-10-8', 50],
  ['@circle-fin/user-controlled-wallets', 48],
  ['user-controlled-wallets-10-8', 48],
])('reads the methods of the operations of %s', (name, least) => {
  const read = operationsOf(name).filter(({ method }) => method !== undefined)
  expect(new Set(read.map(({ method, path }) => `${method} ${path}`)).size).toBeGreaterThanOrEqual(least)
})

it('finds an operation that is new', () => {
  const newer = operationsIn('let a="/v1/w3s/developer/wallets/{id}/freeze",b={method:"POST",...c}')
  expect([newer, newer.some(isKnown)]).toEqual([
    [{ method: 'POST', path: '/v1/w3s/developer/wallets/{}/freeze' }],
    false,
  ])
  expect(operationsIn("get('/v2/cctpx/owners?page=1')").some(isKnown)).toBe(false)
})
